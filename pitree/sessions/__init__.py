"""One session file: its lines, entries, tree, context. Knows no screen and no other room."""
