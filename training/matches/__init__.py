"""Games between players, and the strength that follows from them."""
