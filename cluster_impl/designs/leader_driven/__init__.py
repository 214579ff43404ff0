"""Kafka Replication V2 (detailed design): no controller; the leader of each partition makes every decision about it."""
