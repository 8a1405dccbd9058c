"""The three panes: Sessions, Tree, Preview."""
