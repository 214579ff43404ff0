"""The state of the cluster as the controller knows it, and the two state machines that change it."""
