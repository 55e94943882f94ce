"""The one command, `gozero`: finds the module of a command and runs it. No other command's module is imported."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from gozero import __version__
from gozero.system.console import BAD_INPUT, SUCCESS, printing, run_command, say

FIRST = """\
Try first:
  gozero play connect4 --level 3      a game in this terminal; or othello, go, nogo ...
  gozero web                          the same, and more, in your browser
  gozero check                        whether the engine works, before you add it to a client
  gozero train --preset tiny          the whole cycle of training in a minute
gozero --help lists all commands."""


class CommandEntry(NamedTuple):
    """A command: where its `main(arguments) -> int` is, as in the console_scripts of setup.cfg, and a line of help."""

    function: str
    summary: str
    leading: tuple[str, ...] = ()  # arguments before those of the user


GROUPS = {
    "Play": {
        "play": CommandEntry("gozero.frontends.terminal.__main__:main", "play against the engine in this terminal"),
        "web": CommandEntry("gozero.frontends.web.__main__:main", "a board in the browser: play, analyse, review"),
        "gtp": CommandEntry("gtp.__main__:main", "the engine for Sabaki, GoGui and servers; the same as gozero-gtp"),
        "analysis": CommandEntry("gozero.frontends.analysis.__main__:main", "KataGo's JSON analysis, for KaTrain"),
        "check": CommandEntry("gtp.__main__:main", "whether the engine works here; compiles its rules", ("--check",)),
        "levels": CommandEntry("gozero.frontends.tools:levels", "list the levels of strength"),
    },
    "Look inside": {
        "weights": CommandEntry("gozero.frontends.tools:weights", "describe a weights file"),
        "net": CommandEntry("gozero.frontends.tools:net", "print the layers of a network"),
        "graph": CommandEntry("gozero.frontends.tools:graph", "let weights files play without PyTorch"),
        "perft": CommandEntry("gozero.frontends.tools:perft", "count move sequences, to compare rules"),
    },
    "Train": {
        "train": CommandEntry("training.commands.train:main", "self-play, learning and new weights in turns"),
        "selfplay": CommandEntry("training.commands.selfplay:main", "the default run, or games from a weights file"),
        "report": CommandEntry("training.commands.report:main", "a run as an HTML page"),
        "records": CommandEntry("training.commands.records:main", "list, show, check and export games of self-play"),
        "supervised": CommandEntry("training.commands.supervised:main", "learn from SGF files"),
        "storage": CommandEntry("training.commands.storage:main", "look at a run's copy in a store, or fetch it"),
        "worker": CommandEntry("training.commands.worker:main", "this machine's workers for a run on a cluster"),
    },
    "Compare": {
        "match": CommandEntry("training.commands.match:main", "a match between two players"),
        "tournament": CommandEntry("training.commands.tournament:main", "any number of players, with Elo"),
        "ladder": CommandEntry("training.commands.ladder:main", "how many simulations an opponent needs"),
        "table": CommandEntry("training.commands.table:main", "a published table, played again with your weights"),
        "yardstick": CommandEntry("training.commands.yardstick:main", "agreement with labelled positions"),
        "truth": CommandEntry("training.commands.truth:main", "compare weights with perfect play"),
    },
    "Course": {
        "course generations": CommandEntry("training.commands.course:generations", "value networks by generations"),
        "course imitate": CommandEntry("training.commands.course:imitate", "a policy network from the winners' moves"),
        "course reinforce": CommandEntry("training.commands.course:reinforce", "the policy improved by REINFORCE"),
        "course play": CommandEntry("training.commands.course:play", "play against a strategy of the course"),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first arguments name, and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "_ARGCOMPLETE" in os.environ:
        given = _words_to_complete()
    for length in (2, 1):  # "course play" is a name of two words
        if (name := " ".join(given[:length])) in COMMANDS:
            return _run(name, given[length:])
    if "_ARGCOMPLETE" in os.environ:
        return _complete_name(given)
    if not given:
        return run_command("gozero", lambda: print(FIRST))
    if given[0] in ("-h", "--help", "help"):
        return run_command("gozero", lambda: print(help_text()))
    if given[0] == "--version":
        return run_command("gozero", lambda: print(f"gozero {__version__}"))
    if given in (["course"], ["course", "--help"], ["course", "-h"]):
        return run_command("gozero course", lambda: print(help_text("Course")))
    return _unknown(given)


def help_text(*chosen: str) -> str:
    """The commands by groups: those chosen, or all."""
    width = max(map(len, COMMANDS))
    lines = ["usage: gozero COMMAND [options]; gozero COMMAND --help lists a command's options"]
    for title in chosen or GROUPS:
        lines += ["", f"{title}:"]
        lines += [f"  {name:{width}}  {command.summary}" for name, command in GROUPS[title].items()]
    return "\n".join(lines)


def _run(name: str, arguments: list[str]) -> int:
    """Import a command's module, where Ctrl-C and a missing package are one line, then run the command."""
    command = COMMANDS[name]
    module, _, function = command.function.partition(":")
    loaded: list[Any] = []
    if code := run_command(f"gozero {name}", lambda: loaded.append(import_module(module))):
        return code
    main: Callable[[list[str]], int] = getattr(loaded[0], function)
    return printing(f"gozero {name}", lambda: main([*command.leading, *arguments]))


def _unknown(given: list[str]) -> int:
    name = " ".join(given[: 2 if given[0] == "course" else 1])
    near = ["report"] if name == "doctor" else difflib.get_close_matches(name, COMMANDS, n=1)  # which has its verdicts
    hint = f"did you mean {near[0]!r}? " if near else ""
    say(f"gozero: there is no command {name!r}; {hint}gozero --help lists all")
    return BAD_INPUT


def _words_to_complete() -> list[str]:
    """The finished words after `gozero` on the command line that a shell completes; argcomplete is told to begin at
    the command's own, as it does for `python -m`.
    """
    line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
    words = line.split()[1:] if line.endswith(" ") else line.split()[1:-1]
    length = 2 if words[:1] == ["course"] else 1
    if " ".join(words[:length]) in COMMANDS:
        os.environ["_ARGCOMPLETE"] = str(1 + length)
    return words


def _complete_name(words: list[str]) -> int:
    """Answer a shell that completes the name of a command."""
    from gozero.system.console import Parser

    parser = Parser(prog="gozero", add_help=not words)
    names = [name.split()[-1] for name in COMMANDS if name.split()[:-1] == words]
    firsts = [] if words else ["course"]
    if words:
        os.environ["_ARGCOMPLETE"] = "2"
    parser.add_argument("command", choices=[*names, *firsts])
    parser.parse_args([])
    return SUCCESS


if __name__ == "__main__":
    sys.exit(main())
