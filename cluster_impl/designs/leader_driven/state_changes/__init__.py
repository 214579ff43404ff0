"""Requests from leaders and admin commands to brokers, through a persistent queue for each broker. Pure."""
