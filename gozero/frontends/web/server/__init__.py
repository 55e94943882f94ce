"""The web server of the board: it knows neither rules nor searches."""
