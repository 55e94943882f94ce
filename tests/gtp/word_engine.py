"""A GTP engine with the habits of HaHaNoGo, which plays NoGo on 9x9. Not a test.

    python word_engine.py SIMULATIONS

It reads words, not lines: an ID, and each argument of a command that it does not know, is a command of its own, and
every such one is answered with an empty text. Any word that begins with g asks for a move, with c clears the board.
There are no IDs, and no blanks after `=`. It resigns early.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, it finds no package yet

from tests.naive.nogo import NaiveNoGo

SIZE, COLUMNS = 9, "ABCDEFGHJ"


def answer_to(word: str, words: Iterator[str], game: NaiveNoGo, chance: random.Random) -> str:
    if word in ("boardsize", "komi"):
        next(words)
    elif word == "play":
        next(words)
        column, row = next(words).upper()
        game.play((SIZE - int(row)) * SIZE + COLUMNS.index(column))
    elif word[0] == "c":
        game.__init__(SIZE)  # type: ignore[misc]
    elif word[0] == "g":
        next(words)
        if game.over() or game.score() < -8:
            return "resign"
        action = chance.choice(sorted(game.legal()))
        game.play(action)
        return f"{COLUMNS[action % SIZE]}{SIZE - action // SIZE}"
    return {"name": "words", "protocol_version": "2"}.get(word, "")


def main() -> None:
    game, chance = NaiveNoGo(SIZE), random.Random(int(sys.argv[1]))
    words = (word for line in sys.stdin for word in line.split())
    for word in words:
        print(f"={answer_to(word, words, game, chance)}\n", flush=True)


main()
