"""Requests from leaders and admin commands to brokers, through a persistent queue per broker. No I/O."""
