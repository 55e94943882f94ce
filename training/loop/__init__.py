"""The whole cycle, and the command line that starts it."""
