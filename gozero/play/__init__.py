"""A game in progress and the player that searches it: moves, time, levels, the end of a game."""
