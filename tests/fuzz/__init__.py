"""Malformed and hostile input on every listener of every design: `python -m tests.fuzz`.

Nodes have to outlive it, to serve their other connections meanwhile, and to give back what it cost.
"""
