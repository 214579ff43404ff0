"""Offsets of groups without members, at the limits of their fields, deleted, and used again.

The model of the cluster's state judges what is left of them (MDL-10), once more after each failover and restart.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.coordination import COORDINATOR, GROUP, TOO_LARGE
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import any_broker, api, must
from fencepost.harness.campaign.settling import restarted
from fencepost.harness.plan.base import ExpectOutcome
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

MOST_METADATA = 4096
"""The default of `offset.metadata.max.bytes`."""
LIMITS = (0, 1, 2**31 - 1, 2**31, 2**63 - 1)
NEGATIVE = (-1, -2, -(2**63))
"""Offsets that clients do not send. No document says what a coordinator does with them, so nothing is claimed of it."""
LENGTHS = (0, 0, 0, 249, 1000, 10_000)
"""Characters of the name of a group, at least: no document bounds it, and a string of the protocol has 32,767."""
METADATA = (0, 1, 255, MOST_METADATA)
EPOCHS = (-1, 0, 2**31 - 1)
COMMIT = 7
"""A version of OffsetCommit with leader epochs and names of topics."""
MOVES = ("commit", "again", "too large", "negative", "delete", "delete", "delete group")
TOGETHER = 3
"""Partitions of one commit, at most."""


class OffsetsAtLimits(Operation):
    """Offsets of a group are committed at the limits of their fields, twice, deleted, and committed again."""

    name = "offsets-at-limits"
    weight = 2
    at_end = of_whole_clusters = True
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.5"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        client = _Client(rng, script)
        moves = [rng.choice(MOVES) for _ in range(rng.randint(2, 4))]
        steps = [client.find(), *client.moves(("commit", *moves))]
        return GeneratedOperation(f"offsets at limits: commit, {', '.join(moves)}", tuple(steps))


class OffsetsAfterRestart(Operation):
    """Requests about the offsets of a group are sent again after its coordinator has restarted."""

    name = "offsets-after-restart"
    weight = 1
    of_whole_clusters = True
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.5"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        client = _Client(rng, script)
        moves = ("commit", *(rng.choice(MOVES) for _ in range(rng.randint(1, 2))))
        steps = [
            client.find(),
            *client.moves(moves),
            *restarted(script, COORDINATOR),
            *client.moves(moves),
        ]
        title = f"offsets before and after a restart of their coordinator: {', '.join(moves)}"
        return GeneratedOperation(title, tuple(steps), unsettles=True)


class _Client:
    """Sends requests about the offsets of one group to its coordinator."""

    def __init__(self, rng: random.Random, script: Script) -> None:
        self._rng = rng
        self._script = script
        self._group = f"{script.name('limits-of')}-".ljust(rng.choice(LENGTHS), "g")
        there = script.cluster.topics  # of others it is not certain which partitions they have
        self._topic = rng.choice([each for each in there if len(each.assignments) > 1] or there)
        self._last: dict[str, Any] | None = None

    def find(self) -> ApiProbe:
        how = any_broker(self._rng, self._script, "CRD-01")
        body = {"key": self._group, "key_type": GROUP}
        within_ms = self._script.cluster.liveness_timeout_ms
        return api(self._script, "find", how, "find_coordinator", body, version=3, within_ms=within_ms)

    def moves(self, moves: Sequence[str]) -> Iterator[Step]:
        for move in moves:
            match move:
                case "again" if self._last is not None:
                    yield self._send("commit", "offset_commit", self._last, must("CRD-03"), version=COMMIT)
                case "too large":
                    body = self._commit(self._rng.choice(LIMITS), MOST_METADATA + 1)
                    refused = must("CRD-02", f"error:{TOO_LARGE}")
                    yield self._send("refused", "offset_commit", body, refused, version=COMMIT)
                case "negative":
                    body = self._commit(self._rng.choice(NEGATIVE), 0)
                    yield self._send("negative", "offset_commit", body, None, version=COMMIT)
                case "delete":
                    named = [{"partition_index": self._rng.choice(self._committed())}]
                    body = {"group_id": self._group, "topics": [{"name": self._topic.name, "partitions": named}]}
                    yield self._send("delete", "offset_delete", body, None)
                case "delete group":
                    yield self._send("delete", "delete_groups", {"groups_names": [self._group]}, None)
                case _:
                    count = self._rng.choice((1, TOGETHER, TOGETHER))
                    self._last = self._commit(self._rng.choice(LIMITS), self._rng.choice(METADATA), count)
                    yield self._send("commit", "offset_commit", self._last, must("CRD-03"), version=COMMIT)

    def _commit(self, offset: int, length: int, count: int = 1) -> dict[str, Any]:
        """Return a commit for so many partitions, or for all if the topic has fewer."""
        there = len(self._topic.assignments)
        partitions = [
            {
                "partition_index": number,
                "committed_offset": offset,
                "committed_leader_epoch": self._rng.choice(EPOCHS),
                "committed_metadata": "m" * length,
            }
            for number in self._rng.sample(range(there), min(count, there))
        ]
        topics = [{"name": self._topic.name, "partitions": partitions}]
        return {"group_id": self._group, "generation_id_or_member_epoch": -1, "member_id": "", "topics": topics}

    def _committed(self) -> Sequence[int]:
        """Return the partitions of the last commit, so that a deletion of one has others to leave alone."""
        assert self._last is not None
        return [each["partition_index"] for each in self._last["topics"][0]["partitions"]]

    def _send(
        self, name: str, request: str, body: dict[str, Any], expect: ExpectOutcome | None, **more: Any
    ) -> ApiProbe:
        """Send a request to the coordinator, again until the answer is as claimed."""
        how = replace(any_broker(self._rng, self._script, "CRD-01"), node=COORDINATOR, expect=expect)
        within_ms = self._script.cluster.liveness_timeout_ms if expect else 0
        return api(self._script, name, how, request, body, within_ms=within_ms, **more)
