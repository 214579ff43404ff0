"""Authentication of connections (JAAS, SASL/PLAIN) and authorization of requests."""
