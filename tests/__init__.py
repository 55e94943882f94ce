"""The tests; they mirror the tree. Slow plain-Python oracles are in `tests.naive`."""
