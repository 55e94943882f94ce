"""What is said of input that makes no sense: one line. Not a test itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

Refused = Callable[..., str]  # (the command's main, its arguments, the exit code): the line


def refusals(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Returns what gives a command its arguments, and has the one line with which it, or its parser, refuses them."""

    def refused(main: Callable[[list[str]], int], arguments: list[str], code: int = 2) -> str:
        capsys.readouterr()
        try:
            ended: object = main(arguments)
        except SystemExit as exit:
            ended = exit.code
        said = capsys.readouterr()
        assert (ended, said.out, said.err.count("\n")) == (code, "", 1), said
        return said.err

    return refused


@contextmanager
def one_line(error: type[Exception], words: str) -> Iterator[None]:
    """Within it such an error is raised, with these words in its one line."""
    with pytest.raises(error) as raised:
        yield
    text = str(raised.value)
    assert words in text and "\n" not in text, text
