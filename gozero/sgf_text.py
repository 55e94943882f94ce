"""Properties of SGF nodes that are free text, however odd the program that wrote them."""

from __future__ import annotations

import math

from sgfmill import sgf_grammar
from sgfmill.sgf import Tree_node


def line_of(root: Tree_node, name: str) -> str:
    """A text property of the root in one line, or empty."""
    return writable(" ".join(text_of(root, name).split()))


def text_of(node: Tree_node, name: str) -> str:
    """A text property, or empty; the first of its values where a file wrongly has several, latin-1 where the bytes are not
    in the file's encoding.
    """
    if not node.has_property(name):
        return ""
    text = sgf_grammar.text_value(node.get_raw(name))
    try:
        return str(text.decode(node.get_encoding()))
    except UnicodeDecodeError:
        return str(text.decode("latin-1"))


def writable(text: str) -> str:
    """The text without halves of surrogate pairs, which no file can hold; they stand for bytes that were no UTF-8."""
    return text.encode(errors="replace").decode()


def komi_of(root: Tree_node) -> float | None:
    """KM, also with a decimal comma; None where there is none, or none that is a finite number."""
    written = text_of(root, "KM").replace(",", ".")
    try:
        komi = float(written) if "_" not in written else math.nan
    except ValueError:
        return None
    return komi if math.isfinite(komi) else None
