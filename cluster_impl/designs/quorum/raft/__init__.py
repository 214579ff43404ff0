"""Raft for the metadata topic, in the pull-based shape of KIP-595.

`core` decides and does no I/O; `node` gives it a log, a clock, and sockets; `observer` is what a broker uses to follow
the committed records. The simulation in the tests runs the same core under loss, partitions, and crashes.
"""
