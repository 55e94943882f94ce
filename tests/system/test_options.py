"""Tables of options: nested, extended, required, and what is refused in which words."""

from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest

import gozero.frontends.analysis.queries
import gtp.settings
from gozero.play.engine import EngineSettings
from gozero.system import files
from gozero.system.options import REQUIRED, SettingsError, entries, from_values, option, parse, read_toml, setting


@dataclass(frozen=True)
class Inner:
    size: int = setting(REQUIRED, unit="points", low=2, high=19)
    share: float = setting(0.5, unit="of all", low=0)


@dataclass(frozen=True)
class Outer:
    name: str = setting("go", unit="game", choices=("go", "nogo"))
    word: str = setting("x", unit="reversed", read=lambda value, where: value[::-1])
    inner: Inner = field(default_factory=lambda: Inner(9))
    rows: tuple[Inner, ...] = ()


def test_tables_are_nested() -> None:
    values = {"name": "nogo", "word": "ab", "inner": {"size": 5}, "rows": [{"size": 2}, {"size": 3, "share": 1}]}
    assert from_values(Outer, values, "f") == Outer("nogo", "ba", Inner(5), (Inner(2), Inner(3, 1.0)))
    assert from_values(Outer, {}, "f") == Outer()


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"inner": {}}, "f: inner: setting 'size' is missing"),
        ({"inner": []}, "f: inner = []: expected a table, such as {batch = 64} or {9 = 4}"),
        ({"rows": []}, "f: rows is empty; give at least one"),
        ({"rows": [{"size": 2}, {"size": 1}]}, "f: rows 2: size = 1 is out of range: from 2 to 19 (points)"),
        ({"inner": {"size": 5, "share": -(10**400)}}, "f: inner: share = -inf is out of range: at least 0 (of all)"),
        ({"inner": {"size": 5, "share": -1}}, "f: inner: share = -1.0 is out of range: at least 0 (of all)"),
        ({"inner": {"size": True}}, "f: inner: size = True: expected a whole number"),
        ({"name": "chess"}, "f: name = 'chess': choose one of go, nogo"),
        ({"nome": "go"}, "f: unknown setting 'nome'; known here: name, word, inner, rows"),
        ({"size": 5}, "f: unknown setting 'size'; it is inner.size or size in each [[rows]]"),
        ({"inner": {"rows": []}}, "f: inner: unknown setting 'rows'; known here: size, share"),
        ({"rows": [{"size": 5, "name": "go"}]}, "f: rows 1: unknown setting 'name'; it is name before the first table"),
    ],
)
def test_refusals_name_the_place(values: dict, line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        from_values(Outer, values, "f")
    assert str(caught.value) == line


def test_a_table_names_its_own_options_before_those_that_it_extends() -> None:
    @dataclass(frozen=True)
    class More(EngineSettings):
        colour: str = option("black", "side")

    assert [entry.name for entry in entries(More)] == ["colour", "max_memory", "threads", "backend", "precision"]


def test_the_front_ends_share_the_options_of_the_engine() -> None:
    for table in (gtp.settings.GtpSettings, gozero.frontends.analysis.queries.AnalysisSettings):
        assert entries(table)[-4:] == entries(EngineSettings)


def test_a_path_from_a_folder_that_is_gone_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert files.full("log.txt") == Path("log.txt")
    assert files.full("/log.txt") == Path("/log.txt")
    with pytest.raises(SettingsError, match=r"cannot read x\.toml: no such file"):
        read_toml(files.full("x.toml"))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless file")
def test_a_file_without_an_end_is_no_toml() -> None:
    with pytest.raises(SettingsError, match=r"/dev/zero is not a TOML file: it has more than 1,000,000 characters"):
        read_toml(Path("/dev/zero"))


@pytest.mark.parametrize("text", ["1_0", "\N{ARABIC-INDIC DIGIT SEVEN}", "\N{SUPERSCRIPT TWO}", ""])
def test_numbers_are_of_ascii_digits(text: str) -> None:
    (size, share) = fields(Inner)
    for entry in (size, share):
        with pytest.raises(SettingsError, match=f"size = {text!r}: expected a (whole )?number"):
            parse(entry, text, "size")
    assert parse(size, "10", "size") == 10
