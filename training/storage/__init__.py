"""The files of a run folder, and the checkpoint among them."""
