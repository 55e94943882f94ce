"""The command lines of training: options, checks, and what to run."""
