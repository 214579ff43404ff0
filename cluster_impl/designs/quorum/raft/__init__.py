"""Raft for the metadata topic, in the pull-based form of KIP-595.

`core` decides and does no I/O. `driver` gives it inputs and the time, and `node` performs its effects with a log, files
and sockets. `observer` follows the committed records for a broker. The simulation in the tests runs the same core under
loss, partitions and crashes.
"""
