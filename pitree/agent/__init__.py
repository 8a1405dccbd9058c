"""The Pi program itself: how it is found and started, and the clipboard beside it. Knows no screen."""
