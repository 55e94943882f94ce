"""A run in its folder: its parts, what it begins with, and what it will cost."""
