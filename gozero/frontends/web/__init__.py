"""The board in the browser: a web server, one page, and a process for the engine of each game.

The server passes JSON objects between the pages and the engine process of their game, so that an engine that dies takes
nothing with it: a page's *request* has a field `do`, an engine's *report* a field `is`. The server imports nothing
heavy; only the engine process knows the rules.
"""
