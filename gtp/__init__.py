"""The front end: the Go Text Protocol outside, a `gozero.play.player.Player` inside. It knows no training.

`gtp.protocol` frames lines and knows no Go; the modules in `gtp.commands` are the commands. Nothing is imported here:
`name` is answered at once.
"""
