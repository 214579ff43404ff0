"""Faults of disks: what a log directory does not take, give back or keep."""
