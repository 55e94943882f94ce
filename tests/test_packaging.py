"""What setup.cfg says against what the tree holds, and the wheel: installed elsewhere, it plays from its shipped
weights.
"""

import configparser
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import ROOT

SOURCE_FOLDERS = ("gozero", "gtp", "training")


@pytest.fixture(scope="module")
def setup_cfg() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def test_every_package_of_the_tree_is_in_the_wheel(setup_cfg: configparser.ConfigParser) -> None:
    listed = set(setup_cfg["options"]["packages"].split())
    folders = {
        path.parent for top in SOURCE_FOLDERS for pattern in ("*.py", "*.toml") for path in (ROOT / top).rglob(pattern)
    }
    found = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    assert listed == found


def test_every_other_file_of_the_packages_is_in_the_wheel(setup_cfg: configparser.ConfigParser) -> None:
    """Except the sources of the page and their packages, which the server does not need."""
    data = setup_cfg["options.package_data"].items()
    listed = {path for name, pattern in data for path in ROOT.joinpath(*name.split(".")).glob(pattern)}
    paths = (path for top in SOURCE_FOLDERS for path in (ROOT / top).rglob("*") if path.is_file())
    assert listed == {path for path in paths if path.suffix not in (".py", ".pyc") and "client" not in path.parts}


def test_folders_of_the_same_names_are_not_taken_for_the_packages(tmp_path: Path) -> None:
    """An editable installation of a clone called gozero, used from the folder above it, where others lie too."""
    pytest.importorskip("setuptools")
    tree = copy_of_tree(tmp_path / "gozero", "*.pt", "static")
    (tmp_path / "training" / "records").mkdir(parents=True)
    build = f"from setuptools import build_meta; build_meta.build_editable({str(tmp_path)!r})"
    run(sys.executable, "-c", build, cwd=tree)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    names = ("gozero.nets.weights", "training.records.records")
    look = "import site, sys; site.addsitedir(sys.argv[1]); from importlib.util import find_spec"
    look += f"; print(*(find_spec(name).origin for name in {names}), sep=chr(10))"
    found = run(sys.executable, "-E", "-S", "-c", look, tmp_path / "site", cwd=tmp_path)
    assert found.split("\n")[:2] == [str(tree.joinpath(*name.split("."))) + ".py" for name in names]


def test_the_makefile_looks_for_every_python_that_the_classifiers_name(setup_cfg: configparser.ConfigParser) -> None:
    named = re.findall(r"Python :: (3\.\d+)", setup_cfg["metadata"]["classifiers"])
    assert named == ["3.11", "3.12", "3.13"]
    looked_for = re.findall(
        r"python(3\.\d+)", re.findall(r"for python in ([^;]*);", (ROOT / "Makefile").read_text())[0]
    )
    assert sorted(looked_for) == named


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("made_in", "target", "stays"),
    [(".", "help", True), ("link", "help", True), ("elsewhere", "--just-print", True), ("elsewhere", "help", False)],
)
def test_an_environment_that_was_made_elsewhere_is_made_anew(
    tmp_path: Path, made_in: str, target: str, stays: bool
) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    stamp = tmp_path / ".venv" / "stamps" / "environment"
    stamp.parent.mkdir(parents=True)
    stamp.write_text(f"{tmp_path / made_in}\n")
    environment = os.environ | {"MAKEFLAGS": ""}  # make test passes its own on
    subprocess.run(["make", target], cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert stamp.exists() == stays


def test_commands_that_the_documents_name_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"`make ([a-z]+)", (ROOT / document).read_text()))
        assert named <= targets, document
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        for name in re.findall(r"python -m ((?:benchmarks|tools|training)[\w.]*\w)", path.read_text(encoding="utf-8")):
            spec = find_spec(name)
            assert spec and (not spec.submodule_search_locations or find_spec(f"{name}.__main__")), f"{path.name}: {name}"


def test_make_bench_runs_what_the_document_says() -> None:
    document = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    runs = re.findall(r"^BENCHMARKS := (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[0].split()
    listed = re.findall(r"^\| `python -m benchmarks\.(\w+)", document, flags=re.MULTILINE)
    assert sorted(runs) == sorted(set(listed))
    for name in runs:
        script = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
        assert "parser(__doc__" in script, f"{name} takes --short from the harness"


def test_files_that_the_documents_name_exist() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_the_map_names_every_package_and_nothing_that_is_not_there() -> None:
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    folders = {
        path.parent.relative_to(ROOT).as_posix() for top in SOURCE_FOLDERS for path in (ROOT / top).rglob("__init__.py")
    }
    assert sorted(folder for folder in folders if f"| `{folder}/` |" not in text) == []
    named = re.findall(r"`([\w.]+/[\w./]*)`", text)
    assert len(named) > 40
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_the_constants_and_functions_of_the_map_are_in_the_files_that_it_names() -> None:
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    named = re.findall(r"((?:`\w+` and )?`\w+`) in `([\w/]+\.py)`", text)
    named += [("`CHECKS`", "training/doctor/checks.py"), ("`repeats`", "gozero/games/go/superko.py")]
    assert len(named) > 4
    for words, file in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        for word in re.findall(r"\w+", words.replace(" and ", " ")):
            assert re.search(rf"^ *(def |class )?{word}\b", source, re.MULTILINE), f"{file}: {word}"


def test_the_map_stays_one_page() -> None:
    assert len((ROOT / "docs" / "map.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_prose_has_short_lines() -> None:
    """Tables, code and links cannot be wrapped; the rest of a document has lines of at most 120 characters."""
    documents = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    measured = (ROOT / "weights" / "README.md", ROOT / "benchmarks" / "results.md")
    assert [f"{path.name}: {line}" for path in (*documents, *measured) for line in prose(path) if len(line) > 120] == []


def prose(document: Path) -> list[str]:
    """The lines of a document that are neither code nor a table's row, a heading or a picture."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [line for line in text.splitlines() if not re.match(r"\||#|!\[| {4}", line)]


def copy_of_tree(target: Path, *without: str) -> Path:
    """The files that the wheel is built from, so that the build leaves nothing in the tree itself; patterns `without`
    are left out.
    """
    for name in ("setup.cfg", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        target.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    for name in (*SOURCE_FOLDERS, "weights"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", *without))
    return target


def run(*command: str | Path, cwd: Path, text: str = "") -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, input=text, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_wheel_in_an_empty_environment_plays_from_its_shipped_weights(tmp_path: Path) -> None:
    tree = copy_of_tree(tmp_path / "tree")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, tree, cwd=tmp_path)
    (wheel,) = tmp_path.glob("gozero-*.whl")
    shutil.rmtree(tree)
    venv.create(tmp_path / "environment", with_pip=True)
    programs = tmp_path / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answers = run(
        programs / "gozero-gtp", "--visits", "4", cwd=elsewhere, text="1 name\n2 boardsize 9\n3 genmove b\n4 quit\n"
    )
    assert re.fullmatch(r"=1 \S+\n\n=2 ?\n\n=3 ([A-J][1-9]|pass)\n\n=4 ?\n\n", answers), answers
    find = "from gozero.nets.locations import find; print(find('best.pt'))"
    assert "environment" in run(programs / "python", "-c", find, cwd=elsewhere)
