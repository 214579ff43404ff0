"""The controller: pure operations on a metadata image and the leases, and the edge that runs them over Raft."""
