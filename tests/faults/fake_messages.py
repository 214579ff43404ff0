"""Messages of a cluster of dictionaries: one of each kind comes at once on every link."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fencepost.faults.capabilities import Fate, MessageCounts, MessageRule

Pair = tuple[str, str]


@dataclass
class FakeMessages:
    """`deaf`: rules are neither set nor released. `none`: no message comes."""

    deaf: bool = False
    none: bool = False
    gone: bool = False
    """The receivers of held messages have ended their connections."""
    rules: dict[Pair, MessageRule] = field(default_factory=dict)
    counted: dict[Pair, MessageCounts] = field(default_factory=dict)

    def decide(self, source: str, destination: str, rule: MessageRule) -> None:
        if self.deaf:
            return
        self.rules[source, destination] = rule
        counts = MessageCounts(active=True, passing={rule.api_key: 1}, matched=1)
        if self.none:
            counts = replace(counts, passing={}, matched=0)
        elif rule.fate is Fate.HOLD:
            counts = replace(counts, held=1)
        elif rule.fate is Fate.TWICE:
            counts = replace(counts, repeated=1, dropped=1)
        else:
            counts = replace(counts, lost=1, broken=int(rule.fate is Fate.LOSE))
        self.counted[source, destination] = counts

    def release(self, source: str, destination: str) -> None:
        counts = self.counts(source, destination)
        if self.deaf or not counts.active:
            return
        delivered, undelivered = (0, counts.held) if self.gone else (counts.held, 0)
        self.counted[source, destination] = replace(
            counts, active=False, broken=0, delivered=delivered, undelivered=undelivered
        )

    def counts(self, source: str, destination: str) -> MessageCounts:
        return self.counted.get((source, destination), MessageCounts())
