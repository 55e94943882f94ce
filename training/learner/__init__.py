"""The losses, the optimiser and the averaged weights."""
