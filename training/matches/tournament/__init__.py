"""Tournaments: any number of players, played over all cores, resumed after any stop, rated, shown on one page."""
