"""A controller's edges: the election, the event loop of a term, the connections to brokers."""
