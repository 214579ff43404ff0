"""How probes are run: what their requests ask of a run, and what must not change by them."""
