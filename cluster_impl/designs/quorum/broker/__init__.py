"""The broker's side of the metadata quorum: its lease, its heartbeats, and the control plane for its replicas."""
