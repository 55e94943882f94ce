"""A game against the engine in a terminal."""
