"""Learning from SGF files instead of self-play."""
