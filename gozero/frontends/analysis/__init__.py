"""KataGo's analysis protocol in front of the engine: many positions at once, one JSON object a line.

It stands beside `gtp` and above `gozero`, and knows nothing of either `gtp` or `training`.
"""
