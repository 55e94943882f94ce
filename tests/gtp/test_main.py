"""gozero-gtp as a process: what controllers see of it, from the first byte to the exit code."""

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch

from gozero import games, nets, weights

COMMAND = [sys.executable, "-m", "gtp"]
SMALL = ["--visits", "4", "--size", "5", "--seed", "1"]


@pytest.fixture(scope="module")
def nogo_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = nets.config("b1c8", games.make("nogo"))
    path = tmp_path_factory.mktemp("weights") / "nogo.pt"
    weights.save(path, nets.build(config, seed=1), config, game="nogo", size=6)
    return path


def run(arguments: list[str], lines: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], input=lines, capture_output=True, text=True, timeout=120, check=False, **options
    )  # type: ignore[call-overload, no-any-return]


def start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
        start_new_session=True,
    )


def ask(engine: subprocess.Popen[str], line: str) -> str:
    assert engine.stdin
    assert engine.stdout
    engine.stdin.write(line + "\n")
    answer = ""
    while not answer.endswith("\n\n"):
        character = engine.stdout.read(1)
        assert character, "the engine has gone"
        answer += character
    return answer


def test_a_scripted_game(small_weights: Path) -> None:
    """All lines at once, as printf sends them: every command is answered in full, and nothing else is on stdout."""
    done = run(
        ["--weights", str(small_weights), *SMALL],
        "1 genmove b\n\n# talk\n2 genmove w\n3 play b pass\n4 final_score\n5 quit\n6 name\n",
    )
    assert done.returncode == 0
    answers = done.stdout.split("\n\n")
    assert answers.pop() == ""
    assert [answer[:3].strip() for answer in answers] == ["=1", "=2", "=3", "=4", "=5"]
    assert len(answers[0].split()) == 2
    assert "Traceback" not in done.stderr
    assert str(small_weights) in done.stderr.splitlines()[0]


def test_gogui_and_gomill_see_what_it_is_and_what_it_thinks(small_weights: Path) -> None:
    done = run(
        ["--weights", str(small_weights), *SMALL, "--gogui-gfx"],
        "genmove b\ngomill-describe_engine\ngogui-ownership\nprintsgf\n",
    )
    _, description, ownership, record, _ = done.stdout.split("\n\n")
    assert description.splitlines()[1:4] == [f"weights {small_weights}", "network b2c16", "go"]
    assert [len(row.split()) for row in ownership.splitlines()] == [
        1,
        5,
        5,
        5,
        5,
        5,
    ]  # the first is the sign of success
    assert "C[win rate " in record
    assert "gogui-gfx" not in done.stdout
    assert "\ngogui-gfx:\nCOLOR green " in done.stderr
    assert done.stderr.endswith("\n\ngogui-gfx: CLEAR\n")


def test_end_of_input_answers_all_that_came_before(small_weights: Path) -> None:
    done = run(["--weights", str(small_weights), *SMALL], "1 genmove b\n2 name")
    assert (done.returncode, done.stdout.count("\n\n")) == (0, 2)


def test_administration_needs_no_network(small_weights: Path) -> None:
    """The name is there before numpy is imported, let alone numba or torch."""
    program = (
        "import sys, gtp.__main__ as main\n"
        "main.os._exit = lambda code: print(sorted({'numpy', 'numba', 'torch', 'openvino'} & set(sys.modules)), "
        "file=sys.stderr)\n"
        "main.main(sys.argv[1:])\n"
    )
    lines = "name\nversion\nprotocol_version\nlist_commands\nknown_command play\ntime_settings 0 1 0\nquit\n"
    done = subprocess.run(
        [sys.executable, "-c", program, "--weights", str(small_weights)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("= gozero\n\n= 0.1.0\n\n= 2\n\n= all_legal\n")
    assert done.stderr.splitlines()[-1] == "[]"


def test_what_libraries_print_goes_to_stderr(small_weights: Path) -> None:
    program = (
        "import os, sys, gtp.__main__ as main, gozero.player as player\n"
        "original = player.Player.genmove\n"
        "def noisy(*arguments):\n"
        "    print('python noise')\n"
        "    sys.__stdout__.write('more noise\\n')\n"
        "    os.write(1, b'C noise\\n')\n"
        "    return original(*arguments)\n"
        "player.Player.genmove = noisy\n"
        "main.main(sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--weights", str(small_weights), *SMALL],
        input="genmove b\nquit\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "noise" not in done.stdout
    assert {"python noise", "more noise", "C noise"} <= set(done.stderr.splitlines())


@pytest.mark.parametrize("ending", ["quit\n", ""])
def test_an_end_during_a_search_is_prompt_and_answered(small_weights: Path, ending: str) -> None:
    engine = start(["--weights", str(small_weights), "--time", "1000", "--size", "5"])
    assert engine.stdin
    assert engine.stdout
    ask(engine, "showboard")
    ask(engine, "time_settings 0 1 1")
    ask(engine, "genmove b")  # the network is loaded now
    ask(engine, "time_settings 0 1 0")
    engine.stdin.write("1 genmove w\n")
    engine.stdin.flush()
    wait_for_thinking(engine)
    started = time.monotonic()
    engine.stdin.write(ending)
    engine.stdin.close()
    output = engine.stdout.read()
    assert engine.wait(10) == 0
    assert time.monotonic() - started < 1
    assert output.startswith("=1 ")
    assert output.count("\n\n") == (2 if ending else 1)


def wait_for_thinking(engine: subprocess.Popen[str]) -> None:
    """Until the engine has used some processor time for a search that nothing else limits."""
    before, deadline = cpu_seconds(engine.pid), time.monotonic() + 30
    while cpu_seconds(engine.pid) < before + 0.3:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


SEARCHING, ANALYSING, LOADING = (
    ["time_settings 0 1 0", "genmove b"],
    ["kata-analyze b 100 ownership true"],
    ["genmove b"],
)


@pytest.mark.parametrize("busy", [SEARCHING, ANALYSING, LOADING], ids=["searching", "analysing", "loading"])
@pytest.mark.parametrize("ending", ["end of input", "unread output", "SIGTERM"])
def test_gone_within_a_second(small_weights: Path, busy: list[str], ending: str) -> None:
    """Whatever ends it and whatever it does. Only an end of the input that comes before the search is no haste: so do
    scripts end.
    """
    with start(["--weights", str(small_weights), "--time", "1000", "--size", "5"]) as engine:
        assert engine.stdin
        assert engine.stdout
        if busy is LOADING:
            ask(engine, "name")
            if ending == "end of input":
                busy = []  # it loads because its controller pauses
        else:
            ask(engine, "gogui-value")  # the network is loaded now
        engine.stdin.write("".join(f"{line}\n" for line in busy))
        wait_for_thinking(engine)
        begun = time.monotonic()
        if ending == "SIGTERM":
            engine.terminate()
        else:
            (engine.stdin if ending == "end of input" else engine.stdout).close()
        assert engine.wait(10) == (-signal.SIGTERM if ending == "SIGTERM" else 0)
        assert time.monotonic() - begun < 1
        with pytest.raises(ProcessLookupError):
            os.killpg(engine.pid, 0)  # nor has it left a child


def test_commands_that_arrive_while_it_thinks_are_queued(small_weights: Path) -> None:
    engine = start(["--weights", str(small_weights), *SMALL])
    assert engine.stdin
    assert engine.stdout
    engine.stdin.write(
        "".join(f"{number} genmove {'bw'[number % 2]}\n{number}0 name\n" for number in range(1, 9)) + "9 quit\n"
    )
    engine.stdin.flush()
    output = engine.stdout.read()
    assert [line.split()[0] for line in output.splitlines() if line] == [
        f"={n}{z}" for n in range(1, 9) for z in ("", "0")
    ] + ["=9"]


def test_an_interrupt_comment_ends_a_search(small_weights: Path) -> None:
    engine = start(["--weights", str(small_weights), "--time", "1000", "--size", "5"])
    assert engine.stdin
    assert engine.stdout
    ask(engine, "time_settings 0 1 1")
    ask(engine, "genmove b")
    ask(engine, "time_settings 0 1 0")
    engine.stdin.write("1 genmove w\n")
    engine.stdin.flush()
    wait_for_thinking(engine)
    engine.stdin.write("# interrupt\n")
    engine.stdin.flush()
    assert engine.stdout.readline().startswith("=1 ")
    engine.stdin.write("quit\n")
    engine.stdin.flush()
    assert engine.wait(5) == 0


def test_ctrl_c_leaves_quietly(small_weights: Path) -> None:
    heed = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # shells let what they start in the background ignore it
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    engine = subprocess.Popen([*COMMAND, "--weights", str(small_weights)], **pipes, preexec_fn=heed)
    assert engine.stdin
    assert engine.stdout
    engine.stdin.write(b"name\n")
    engine.stdin.flush()
    engine.stdout.readline()
    engine.send_signal(signal.SIGINT)
    engine.wait(timeout=10)  # before `communicate` closes its input, which would end it as well
    _, talk = engine.communicate(timeout=10)
    assert engine.returncode == 130
    assert b"Traceback" not in talk


# Weights and settings that are of no use: one line, exit code 2


def test_missing_weights_name_every_place_that_was_tried(tmp_path: Path) -> None:
    done = run(["--weights", "no-such.pt"], "name\n", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert str(tmp_path / "no-such.pt") in done.stderr


def test_truncated_and_foreign_weights(small_weights: Path, tmp_path: Path) -> None:
    (tmp_path / "short.pt").write_bytes(small_weights.read_bytes()[:-3000])
    (tmp_path / "foreign.pt").write_bytes(b"not weights")
    for name in ("short.pt", "foreign.pt"):
        done = run(["--weights", name], "name\ngenmove b\nname\n", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert str(tmp_path / name) in done.stderr


@pytest.fixture
def damaged_weights(small_weights: Path, tmp_path: Path) -> Path:
    """A file whose header is whole, and one of whose tensors is not."""
    content = torch.load(small_weights)
    next(tensor for tensor in content["tensors"].values() if tensor.is_floating_point()).view(-1)[0] += 1
    path = tmp_path / "damaged.pt"
    torch.save(content, path)
    return path


def test_damaged_weights_end_the_engine_when_they_are_needed(damaged_weights: Path) -> None:
    done = run(["--weights", str(damaged_weights)], "name\ngenmove b\nname\n")
    assert (done.returncode, done.stdout) == (2, "= gozero\n\n")
    assert str(damaged_weights) in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_controller_that_pauses_hears_of_damaged_weights_without_asking(damaged_weights: Path) -> None:
    engine = start(["--weights", str(damaged_weights)])
    assert engine.wait(60) == 2


def test_weights_for_one_size_refuse_others_at_boardsize(tmp_path: Path) -> None:
    config = nets.NetConfig("tiny13", "agz", blocks=1, channels=8, size=13, value_hidden=8)
    weights.save(tmp_path / "only13.pt", nets.build(config, seed=1), config)
    done = run(["--weights", "only13.pt"], "boardsize 9\nboardsize 13\nquery_boardsize\nquit\n", cwd=tmp_path)
    assert done.stdout == "? unacceptable size\n\n= \n\n= 13\n\n= \n\n"
    assert "13" in done.stderr.splitlines()[-1]
    done = run(["--weights", "only13.pt", "--size", "9"], "name\n", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_rules_that_go_does_not_have_are_refused_at_once(small_weights: Path) -> None:
    done = run(["--weights", str(small_weights), "--rules", "japanese"], "name\n")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("gozero-gtp: unknown rules 'japanese': expected one of chinese")


def test_weights_of_another_game_are_refused_in_one_line(nogo_weights: Path) -> None:
    for game in ("go", "othello"):
        done = run(["--game", game, "--weights", str(nogo_weights)], "name\n")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"gozero-gtp: cannot use weights {nogo_weights}: it plays nogo, not {game}\n"


def test_weights_of_a_game_that_nobody_knows(small_weights: Path, tmp_path: Path) -> None:
    content = torch.load(small_weights)
    content["metadata"] = content["metadata"].replace('"game": "go"', '"game": "chess"')
    torch.save(content, tmp_path / "chess.pt")
    done = run(["--weights", str(tmp_path / "chess.pt")], "name\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "it plays chess, not one of go, simple_go, nogo" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["--game", "nogo"]])
def test_a_game_of_nogo(nogo_weights: Path, arguments: list[str]) -> None:
    """The weights say which game it is, and on which board. It ends with one side unable to move."""
    lines = [
        "query_boardsize",
        "boardsize 3",
        *[f"genmove {'bw'[ply % 2]}" for ply in range(9)],
        "gogui-rules_legal_moves",
        "final_score",
    ]
    done = run([*arguments, "--weights", str(nogo_weights), "--visits", "4", "--seed", "1"], "\n".join(lines))
    answers = [answer.removeprefix("= ") for answer in done.stdout.split("\n\n")]
    assert answers[:2] == ["6", ""]
    assert "resign" in answers
    assert answers[11:] in (["", "B+R", ""], ["", "W+R", ""])


def test_rules_that_the_game_does_not_have(small_weights: Path, nogo_weights: Path) -> None:
    for path, rules, message in (
        (small_weights, "japanese", "expected one of chinese"),
        (nogo_weights, "chinese", "nogo has no setting 'rules'"),
    ):
        done = run(["--weights", str(path), "--rules", rules], "showboard\n")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr.splitlines()[-1]


def test_without_weights_the_game_has_its_own(tmp_path: Path) -> None:
    done = run(["--game", "othello", "--size", "5"], "name\nshowboard\n", cwd=tmp_path)
    assert done.returncode == 2
    assert "othello8.pt" in done.stderr.splitlines()[0]


@pytest.mark.parametrize(
    "arguments",
    [["--visits", "0"], ["--no-such-option"], ["--config", "/no/such.toml"], ["--log", "/no/such/folder/log"]],
)
def test_wrong_settings(arguments: list[str]) -> None:
    done = run(arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("gozero-gtp: ")


STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "


def marked(log: Path) -> list[str]:
    """The lines of a log without their times, which each of them has."""
    lines = log.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    assert all(re.match(STAMP + "[-<>] ", line) for line in lines)
    return [line[len("2026-01-01 00:00:00.000 ") :] for line in lines]


def test_the_log_holds_both_sides_and_every_search(small_weights: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    arguments = ["--weights", str(small_weights), *SMALL, "--log", str(log)]
    run(arguments, "1 name\n\nshow\x00board\ngenmove b\nlist_stones b\n2 quit\n")
    facts, talk = marked(log)[:8], marked(log)[8:]
    assert facts[:2] == ["- gozero 0.1.0", f"- weights {small_weights}"]
    assert facts[6].startswith("- process ") and facts[7] == f"- in {Path.cwd()}"
    *said, search, move, question, stones, farewell, end = talk
    assert said[:4] == ["< 1 name", "> =1 gozero", "< show\N{REPLACEMENT CHARACTER}board", "> ="]
    assert re.fullmatch(
        r"- black: 4 visits, \d+/s, \d+\.\d\d s, win rate \d+\.\d %, score [-+]\d+\.\d; ([A-E][1-5] \d+ %(, )?)+; ([A-E][1-5] ?)+",
        search,
    )
    assert said[-1] == "< genmove b"
    assert [question, stones, farewell, end] == ["< list_stones b", move, "< 2 quit", "> =2"]


def test_a_log_is_continued_and_tells_why_the_engine_ended(small_weights: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    run(["--weights", str(small_weights), *SMALL, "--log", str(log)], "name\n")
    before = log.read_text()
    run(["--weights", str(tmp_path / "none.pt"), "--log", str(log)], "name\n")
    assert log.read_text().startswith(before)
    assert "none.pt" in marked(log)[-1] and marked(log)[-1].startswith("- ")


def test_the_log_is_whole_after_a_crash(small_weights: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    with start(["--weights", str(small_weights), *SMALL, "--log", str(log)]) as engine:
        answer = ask(engine, "genmove b")
        engine.kill()
    assert marked(log)[-1] == f"> {answer.strip()}"


def test_a_disk_that_fails_ends_the_log_and_not_the_game(small_weights: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = run(["--weights", str(small_weights), *SMALL, "--log", "/dev/full"], "1 name\n2 genmove b\n")
    assert (done.returncode, done.stdout[:9], done.stdout.count("\n\n")) == (0, "=1 gozero", 2)
    assert done.stderr.count("the log ends here: no space left on device") == 1


def test_the_version_can_be_what_a_client_wants(small_weights: Path) -> None:
    assert run(["--weights", str(small_weights), "--gtp-version", "0.17"], "version\n").stdout == "= 0.17\n\n"


@pytest.mark.parametrize("size", [2, 4])
def test_a_size_that_go_does_not_have_is_refused_before_anything_is_promised(size: int) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "gtp", "--size", str(size)], input="name\n", capture_output=True, text=True, timeout=120
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert re.fullmatch(rf"gozero-gtp: board size {size} is not supported; \S+best\.pt plays 5 to 19\n", found.stderr)
