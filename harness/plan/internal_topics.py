"""The topics of Kafka's own state. Brokers make them on demand, and any other name with `__` is a user's."""

from __future__ import annotations

GROUP_COORDINATOR = "coordinator"
COORDINATORS = {GROUP_COORDINATOR: "__consumer_offsets", "transaction-coordinator": "__transaction_state"}
"""The roles of brokers that keep the state of a group or a transactional id, each with the topic that holds it."""
INTERNAL_TOPICS = (*COORDINATORS.values(), "__share_group_state")
