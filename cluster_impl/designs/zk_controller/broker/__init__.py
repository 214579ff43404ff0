"""The broker's side: its registration, what the controller tells it, its heartbeats, and the seam to its replicas."""
