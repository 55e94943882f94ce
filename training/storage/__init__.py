"""The files of a run folder, the checkpoint among them, and the folder's second home in a store."""
