"""A run on many machines through Ray: the same cycle, whose parts work elsewhere. Only this package imports ray."""
