"""Trends over many runs, computed by Spark; only this package needs it."""
