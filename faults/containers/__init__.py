"""Faults of containers: off the network, short of memory, short of processor."""
