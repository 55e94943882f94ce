"""Self-play: many games at once, each move by a search."""
