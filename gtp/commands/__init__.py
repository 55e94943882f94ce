"""The GTP commands, in groups."""
