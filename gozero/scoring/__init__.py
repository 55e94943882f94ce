"""Whose the points of a Go board are at the end: life and death, counting, and when to pass."""
