"""Removes everything that a dead run left outside its folder, and nothing else."""
