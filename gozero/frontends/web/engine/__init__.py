"""The engine process of a game in the browser."""
