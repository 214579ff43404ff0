"""Nodes in containers: a pod for each node, whose network is its own, and in it the node."""
