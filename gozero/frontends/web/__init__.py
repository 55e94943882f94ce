"""The board in the browser: a small server, one page, and a process for the engine of each game.

Vocabulary. A *page* is an open tab. A *room* is a game that pages show; it has an identifier, which stands in the page's
address. The *engine process* of a room holds the game and searches it; the *server* passes texts between the two, so
that an engine which dies takes nothing with it. A text is one JSON object: a *request* of the page's has a field `do`,
a *report* of the engine's a field `is`.

The package stands beside `gtp` and `analysis` and above `gozero`. The server imports nothing heavy; the rules are known
to the engine process alone, and to no JavaScript.
"""
