"""The weights files that travel with the engine, installed as the package `gozero.shipped`. Data only: README.md has a model card for each file."""
