"""Games as text: SGF in and out, and lists of moves."""
