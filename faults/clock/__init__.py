"""Faults of the wall clock: it jumps, or goes too fast or too slow."""
