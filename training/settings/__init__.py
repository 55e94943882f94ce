"""What a run is told: its settings, checked, and the presets that come with gozero."""
