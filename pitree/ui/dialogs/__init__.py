"""Questions and pages on top of the panes."""
