"""The commands of `python -m fencepost.cluster_impl.designs.leader_driven.admin`."""
