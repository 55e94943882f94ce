"""Networks: their input, their blocks, their weights files and where those are found."""
