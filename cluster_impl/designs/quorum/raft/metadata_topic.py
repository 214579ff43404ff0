"""The metadata topic: the log that the quorum replicates."""

from uuid import UUID

TOPIC = "__kafka_metadata"
SHIPPED_NAME = "__cluster_metadata"
"""The name that shipped Kafka has given to the topic since, which its clients ask for and expect."""
NAMES = (TOPIC, SHIPPED_NAME)
"""The names that no other topic can have: clients would take it for the metadata topic."""
PARTITION = 0
TOPIC_ID = UUID(int=1)
"""The id that is reserved for the metadata topic, in fetches that name topics by id."""
