"""Front ends of the engine beside GTP: the terminal, KataGo's JSON protocol, the board in the browser."""
