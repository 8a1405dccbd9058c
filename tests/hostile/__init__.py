"""A store in which every text is an attack on the terminal, and what of it arrives there."""
