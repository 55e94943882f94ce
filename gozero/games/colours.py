"""The colours of points and sides, and their names. Nothing heavy is imported, so that front ends can use them at once."""

EMPTY, BLACK, WHITE = 0, 1, 2
COLOUR_NAMES = {BLACK: "Black", WHITE: "White"}
COLOUR_WORDS = {BLACK: "black", WHITE: "white"}  # as protocols and files have them
COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}  # as they are read, in lower case
