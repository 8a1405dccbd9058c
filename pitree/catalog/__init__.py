"""All the sessions of a store: where they are, one row for each, finding among them. Knows no screen."""
