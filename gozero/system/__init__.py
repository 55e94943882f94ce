"""The process and its machine: files and caches, options and errors, streams, threads, kernels, random numbers."""
