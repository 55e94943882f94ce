"""The engine: games, networks, search and the player. It knows no GTP (package `gtp`) and no training (package
`training`).

docs/map.md shows the flow and where to begin. Nothing is imported here: a program that needs one module loads only that
one.
"""

__version__ = "0.1.0"
