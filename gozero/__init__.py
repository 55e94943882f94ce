"""The engine: games, networks, search and the player. It knows no GTP (package `gtp`) and no training (package `training`).

docs/map.md lists the modules in reading order. Nothing is imported here, so that a program that needs one module pays for one module.
"""

__version__ = "0.1.0"
