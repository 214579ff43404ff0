"""Scenarios that every broker owes: they need one broker or more, and nothing but what clients see."""
