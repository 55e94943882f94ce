"""The weights files that travel with the engine, in a wheel too; README.md has a model card for each."""
