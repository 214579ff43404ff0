"""Metrics of a node: plain numbers, collected by its parts, and the endpoint at which Prometheus reads them."""
