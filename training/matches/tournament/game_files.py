"""Each game of a tournament as a file: SGF where SGF knows the game, else a text with its moves.

`games/A~B-0001.sgf` is the first game of entrants A and B; no name in files holds `~`. The text of a game that SGF does
not know (Connect-4, tic-tac-toe) has lines `key: value`, the moves last, as the journal writes them.
"""

from __future__ import annotations

from pathlib import Path

from gozero.games.game import Game
from gozero.records import sgf
from training.matches.tournament.field import Field
from training.matches.tournament.journal import PlayedGame, moves_of

FOLDER = "games"


def name_of(played: PlayedGame, field: Field) -> str:
    """The file's name in the folder `games`."""
    entrants = {entrant.name: entrant.file_name for entrant in field.entrant}
    ending = "sgf" if field.game in sgf.GAME_NUMBERS else "txt"
    return f"{entrants[played.pair[0]]}~{entrants[played.pair[1]]}-{played.index + 1:04}.{ending}"


def is_written(played: PlayedGame, field: Field, folder: Path) -> bool:
    """Whether there is a file of this name."""
    return (folder / FOLDER / name_of(played, field)).exists()


def write(played: PlayedGame, field: Field, game: Game, folder: Path) -> None:
    """Save a game; a file of its name, which a journal that was removed may have left, goes. OSError where that cannot
    be done.
    """
    path = folder / FOLDER / name_of(played, field)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f"{path.name}.new")  # a file cut off by a kill must not pass for a game
    made.write_bytes(_sgf(played, field, game) if path.suffix == ".sgf" else _text(played, field).encode())
    made.replace(path)


def _sgf(played: PlayedGame, field: Field, game: Game) -> bytes:
    moves = moves_of(played, game)
    comments = ((len(moves), f"{played.ended}: {played.detail}"),) if played.detail else ()
    return sgf.serialise(
        sgf.GameRecord(
            game.size,
            moves,
            komi=field.komi if field.game == "go" else None,
            result=played.result,
            rules=field.rules,
            black_name=played.black,
            white_name=played.white,
            comments=comments,
            game=field.game,
        )
    )


def _text(played: PlayedGame, field: Field) -> str:
    lines = {"game": field.game, "size": field.size, "rules": field.rules, "black": played.black}
    lines |= {"white": played.white, "result": played.result, "ended": played.ended, "detail": played.detail}
    return "".join(f"{key}: {value}\n" for key, value in lines.items() if value) + f"moves: {played.moves}\n"
