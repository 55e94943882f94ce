"""Golden transcripts: what each controller sends, and what it must be answered, to the byte (`make golden` rewrites
them).

In tests/data/gtp/*.gtp a line that begins with `> ` is sent, `# ` begins a remark, and all else is what came back. A
carriage return is written `^M`. The game is Go unless the name of the file begins with another's. The engine has no
network and one visit a move: its moves mean nothing, but they are always the same.
"""


import pytest

from gtp.settings import WEIGHTS, GtpSettings
from tests import ROOT
from tests.gtp.engine import Engine, answer_to

FOLDER = ROOT / "tests" / "data" / "gtp"


def replay(name: str, transcript: str) -> str:
    """The transcript of that name with the answers of today."""
    game = name.partition("-")[0]
    engine = Engine(GtpSettings(game if game in WEIGHTS else "go", visits=1, seed=1))
    parts = []
    for line in transcript.splitlines():
        if line.startswith("# "):
            parts.append(f"{line}\n")
        elif line.startswith(">"):
            parts.append(f"{line}\n{answer_to(engine.protocol, sent(line)) or ''}")
    return "".join(parts)


def sent(line: str) -> str:
    """What is sent where the transcript has this line."""
    return line[2:].replace("^M", "\r")


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.gtp")))
def test_transcript(name: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    path = FOLDER / f"{name}.gtp"
    wanted = path.read_text("utf-8")
    found = replay(name, wanted)
    if update_golden:
        path.write_text(found, "utf-8")
    assert found == path.read_text("utf-8")
