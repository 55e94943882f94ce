"""The weights files that travel with the engine, installed as package `gozero.shipped`; README.md has a model card for
each.
"""
