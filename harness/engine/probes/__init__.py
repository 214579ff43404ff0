"""One file for each group of probes: how a question of the plan becomes a request, and an answer becomes an outcome."""
