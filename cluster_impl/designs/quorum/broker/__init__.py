"""The broker's side of the quorum: its lease, its heartbeats, and the control plane that its replicas see."""
