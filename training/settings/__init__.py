"""The settings of a run, checked, and the presets that come with gozero."""
