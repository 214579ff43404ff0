"""How a node takes part in the metadata quorum."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from cluster_impl.security.jaas import PlainLogin

TOPIC = "__kafka_metadata"
PARTITION = 0
TOPIC_ID = UUID(int=1)
"""The id that is reserved for the metadata topic, in fetches that name topics by id."""


@dataclass(frozen=True, slots=True)
class RaftConfig:
    """`voters` gives the host name and port of each by its id. Timeouts in seconds."""

    node_id: int
    voters: Mapping[int, tuple[str, int]]
    cluster_id: str
    election_timeout: float = 1.0
    fetch_timeout: float = 2.0
    request_timeout: float = 2.0
    login: PlainLogin | None = None
    """Who this node says it is to controllers; None where they do not ask."""

    @property
    def fetch_max_wait(self) -> float:
        """How long a fetch may wait for news: rarely, but well within what makes anybody lose patience."""
        return min(0.5, self.fetch_timeout / 4, self.request_timeout / 2)
