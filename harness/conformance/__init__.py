"""Scenarios as tests: run a plan, report its progress, and turn its verdict into a pytest outcome."""
