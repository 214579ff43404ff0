"""Single messages of Kafka on directed links: what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol


class Part(Enum):
    """A request, or its answer."""

    REQUEST = "request"
    ANSWER = "answer"


class Fate(Enum):
    """The fate of a message. Nothing inside it is ever changed."""

    LOSE = "lose"
    """It never arrives, nor does what follows it on its stream of the connection, which stays open."""
    END = "end"
    """It never arrives, and the connection ends at once."""
    HOLD = "hold"
    """It waits, and what follows it on its stream waits behind it."""
    TWICE = "twice"
    """A request arrives twice. The sender gets the second answer, as if it had asked again after losing the first."""


@dataclass(frozen=True)
class MessageRule:
    """The fate of some messages of a link: of the requests that match, or of their answers, `count` after `skip`."""

    api_key: int
    part: Part
    fate: Fate
    version: int | None = None
    """None: any."""
    skip: int = 0
    count: int = 1
    hold_ms: int = 0
    """Milliseconds that a held message waits at most; 0: until the rule is released."""


@dataclass(frozen=True)
class MessageCounts:
    """The counts of the proxy of one link since a rule was set, by that rule."""

    active: bool = False
    """True until the rule is released."""
    passing: Mapping[int, int] = field(default_factory=dict)
    """Requests that came while the rule stood, by API key."""
    matched: int = 0
    """The requests among them of the API and version of the rule."""
    lost: int = 0
    held: int = 0
    delivered: int = 0
    """Held messages that were passed on."""
    undelivered: int = 0
    """Held messages whose receiver had ended the connection when they were let go."""
    repeated: int = 0
    dropped: int = 0
    """First answers to requests that arrived twice."""
    broken: int = 0
    """Connections that are open, and from which messages were lost."""
    unread: int = 0
    """Connections, since the link exists, whose messages cannot be separated: all their bytes pass."""


class Messages(Protocol):
    """Decide on single messages of directed links, and count what was done.

    A rule stands for a link; its connections are followed from their beginning, before any rule.
    """

    def decide(self, source: str, destination: str, rule: MessageRule) -> None:
        """Set the rule of a link. CapabilityError if an end of it is paused, or if it carries no messages of Kafka."""

    def release(self, source: str, destination: str) -> None:
        """Let go what is held, end the connections from which messages were lost, and let everything pass."""

    def counts(self, source: str, destination: str) -> MessageCounts: ...
