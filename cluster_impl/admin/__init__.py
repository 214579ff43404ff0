"""Administration of a cluster without controller, by hand: `python -m cluster_impl.admin`."""
