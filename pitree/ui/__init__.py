"""The screen. Reads through the other rooms, and is imported only when it is wanted."""
