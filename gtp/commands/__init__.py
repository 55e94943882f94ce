"""The GTP commands, in tables."""
