"""The metadata topic: the log that the quorum replicates."""

from uuid import UUID

TOPIC = "__kafka_metadata"
PARTITION = 0
TOPIC_ID = UUID(int=1)
"""The id that is reserved for the metadata topic, in fetches that name topics by id."""
