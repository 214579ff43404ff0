"""A running cluster: its nodes, their directories, and what has to be there before they start."""
