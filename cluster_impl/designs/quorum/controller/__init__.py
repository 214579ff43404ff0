"""The controller: operations on a metadata image and the leases, without I/O, and the edge that runs them over Raft."""
