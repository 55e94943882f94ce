"""Tree search over any game of the contract: `gozero.search.search.Search`, settings in `settings`, the move in
`choose`.
"""
