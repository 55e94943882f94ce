"""The tests; they mirror the tree. Slow plain-Python oracles are in `tests.naive`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # of the source tree
