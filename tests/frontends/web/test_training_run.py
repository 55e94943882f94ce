"""A training run in the page: its report, and games against its weights."""

import http.client
import shutil
from pathlib import Path

import pytest

from gozero.frontends.web.settings import EngineProcessSettings
from gozero.frontends.web.training_run import offered_weights
from gozero.nets.locations import SHIPPED_FOLDER
from gozero.system.options import SettingsError

pytest.importorskip("aiohttp")

from tests.frontends.web.talk import served_by


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder: its weights, a checkpoint that is none, a report."""
    folder = tmp_path / "my run"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints" / "000001.pt").write_bytes(b"PK\x03\x04 no weights")
    shutil.copy(SHIPPED_FOLDER / "ttt.pt", folder / "weights.pt")
    (folder / "report.html").write_text("<h1>It learns</h1>")
    return folder


def test_a_run_is_known_by_its_files(run: Path) -> None:
    assert offered_weights(EngineProcessSettings(run=str(run))) == {"my run: weights": run / "weights.pt"}


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is it the folder of a run"):
        offered_weights(EngineProcessSettings(run=str(tmp_path)))


def test_its_report_is_shown_and_its_weights_play(run: Path) -> None:
    with served_by("--run", str(run), "--game", "tictactoe") as server, server.page() as page:
        hello = page.until("hello")
        assert hello["run"] == {"name": "my run", "report": True}
        engines = next(game["engines"] for game in hello["games"] if game["name"] == "tictactoe")
        assert [engine["label"] for engine in engines] == ["", "my run: weights"]
        page.until("view")
        page.send(do="new", setup={"game": "tictactoe", "person": "white", "engine": "my run: weights"})
        assert page.until("view")["engine"] == "my run: weights"
        assert page.until("view")["number"] == 1  # it has played
        page.send(do="new", setup={"game": "go", "engine": "my run: weights"})
        assert page.until("refused")["text"] == "These weights are not offered for Go."
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        link.request("GET", "/run/report")
        answer = link.getresponse()
        assert (answer.status, answer.read()) == (200, b"<h1>It learns</h1>")
        assert answer.headers["Content-Security-Policy"].endswith("sandbox")
        assert "script-src" not in answer.headers["Content-Security-Policy"]
        link.close()
