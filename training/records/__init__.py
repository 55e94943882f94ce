"""Games of self-play: how they are written, counted, checked and turned into rows to learn from."""
