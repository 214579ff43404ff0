"""Who a connection belongs to (SASL/PLAIN), and what it may do."""
