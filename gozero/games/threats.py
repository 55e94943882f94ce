"""The threats of a game won by a line: where a stone would make one, and where it would leave only one point to fill."""

from __future__ import annotations

import numpy as np

from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.games.lines import COLS, LEAST, MOST, ROWS, cell_of, stones_beyond
from gozero.system.jit import STONES, kernel

WINS, THREATENS = 1, 4  # times the colour, which is one bit (BLACK 1, WHITE 2): the bits of `line_threats`


@kernel()
def _mark_window(state, out, row, col, down, right):
    """Mark the empty points of the LEAST points from (row, col) on, `down` rows and `right` columns apart, for each
    colour that lacks only one or two of them, if all of them would be a line.
    """
    cols, least = np.int64(state[COLS]), np.int64(state[LEAST])
    step = down * (cols + 1) + right
    first = cell_of(row * cols + col, cols)
    black = white = 0
    for k in range(least):
        black += state[first + k * step] == BLACK
        white += state[first + k * step] == WHITE
    lacking = least - black - white
    if (black and white) or not 1 <= lacking <= 2:
        return
    bit = WINS if lacking == 1 else THREATENS
    for colour in (BLACK, WHITE):
        if (black and colour == WHITE) or (white and colour == BLACK):
            continue
        before = stones_beyond(state, first, -step, colour)
        after = stones_beyond(state, first + (least - 1) * step, step, colour)
        if before + least + after > state[MOST]:
            continue
        for k in range(least):
            if state[first + k * step] == EMPTY:
                out[(row + k * down) * cols + col + k * right] |= bit * colour


@kernel(STONES.signature)
def line_threats(state, out):
    """Write into out uint8 [points] what a stone on each empty point would do, whether it may be played or not: WINS *
    colour, it makes a line; THREATENS * colour, one more would, LEAST points side by side with the rest of them. A point
    has any of these bits, and 0 if it holds a stone.
    """
    rows, cols = np.int64(state[ROWS]), np.int64(state[COLS])
    last = np.int64(state[LEAST]) - 1
    for point in range(rows * cols):
        out[point] = 0
    for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
        leftmost, end = last if right < 0 else np.int64(0), cols - last if right > 0 else cols
        for row in range(rows - last * down):
            for col in range(leftmost, end):
                _mark_window(state, out, row, col, down, right)
