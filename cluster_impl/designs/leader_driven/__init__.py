"""Kafka replication, detailed design V2: no controller, every partition's leader is its only brain."""
