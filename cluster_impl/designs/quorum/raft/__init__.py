"""Raft for the metadata topic, in the pull-based form of KIP-595.

`core` decides and does no I/O. `node` gives it a log, a clock and sockets. `observer` follows the committed records for
a broker. The simulation in the tests runs the same core under loss, partitions and crashes.
"""
