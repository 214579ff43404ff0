"""Faults of single messages: requests and answers that are lost, late, or repeated, and nothing else on their links."""
