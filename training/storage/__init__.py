"""The files of a run folder, the checkpoint among them, and the copy of the folder in a store."""
