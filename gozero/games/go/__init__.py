"""Go, and what Go shares with NoGo: chains, liberties, ladders, area, superko, rule sets."""
