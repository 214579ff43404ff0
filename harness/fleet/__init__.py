"""Campaigns on many machines: Spark runs the plans, and each round of plans learns from those before."""
