"""Checkers: pure functions from what a run recorded to findings."""
