"""Faults of identity: a node claims an id, a directory or a cluster that is not its own."""
