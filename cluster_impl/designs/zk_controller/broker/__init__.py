"""The broker of the zk-controller design: its registration, heartbeats, and the requests of the controller."""
