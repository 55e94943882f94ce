"""Tree search over any game of the contract: `gozero.search.search.Search`; its settings are in `settings`."""
