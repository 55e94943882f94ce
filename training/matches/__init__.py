"""Games between players."""
