"""A controller that was active is asked while it reaches no majority of the voters."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.faults.links.isolate import IsolateParameters
from fencepost.harness.campaign.operations.operation import Asked
from fencepost.harness.campaign.operations.requests import TOPIC, altered, api, never
from fencepost.harness.campaign.operations.voters import ChangeVoters
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.bind import Bind

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

SOON_MS = 500
SENT = 2
"""The requests of each time, at once: the controller resigns when it has not heard a majority for the fetch timeout."""


class AskedInTheMinority(Situation):
    """The active controller loses all other voters, and gets requests before it knows.

    What it writes then is in no majority, and its successor takes it back: so it answers none of them (K631-17), nor
    that it changed the voters (K853-01).
    """

    name = "asked-in-the-minority"
    weight = 4
    needs = frozenset({Capability.LINKS})
    left_out: Mapping[str, str] = dict.fromkeys(
        (Dialect.ZOOKEEPER, Dialect.LEADER_DRIVEN, Dialect.CLIENTS), "it has no quorum of controllers"
    )

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        if len(cluster.quorum) < 3 or cluster.spare_quorum < 1:
            return False
        old = script.name("old")
        staged.quorum = 1
        staged.steps += [staged.whole(), Bind(as_=old, node="active-controller")]
        fault = staged.inject(
            IsolateParameters(nodes=f"${old}", from_="controllers", how=rng.choice(("stall", "stall", "cut")))
        )
        requests = _Requests(rng, script, f"${old}")
        chosen = rng.sample(sorted(requests.possible), SENT)
        staged.steps += [requests.possible[each]() for each in chosen]
        staged.steps.append(ActiveController(as_=script.name("leads"), is_not=f"${old}", within_ms=staged.within_ms))
        staged.heal(fault)
        staged.title = f"{' and '.join(chosen)} asked of a controller in the minority"
        return True


class _Requests:
    """Changes that the controller would make if it had a majority."""

    def __init__(self, rng: random.Random, script: Script, node: str) -> None:
        self._rng, self._script, self._node = rng, script, node
        self.possible: dict[str, Callable[[], ApiProbe]] = {
            "create_topics": self._created,
            "create_acls": self._permitted,
            "incremental_alter_configs": self._altered,
        }
        if not script.cluster.target.levels or script.cluster.level == ChangeVoters.level:
            self.possible["remove_raft_voter"] = self._removed

    def _created(self) -> ApiProbe:
        name = self._script.name("minority")
        self._script.topics[name] = ScriptTopic(name, 1, 1, Existence.DOUBTFUL)
        topic = {"name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
        return self._send("create_topics", {"topics": [topic], "timeout": SOON_MS, "validate_only": False})

    def _permitted(self) -> ApiProbe:
        entry = {
            "resource_type": TOPIC,
            "resource_name": self._script.name("minority"),
            "resource_pattern_type": 3,
            "principal": "User:minority",
            "host": "*",
            "operation": 3,
            "permission_type": 3,
        }
        return self._send("create_acls", {"creations": [entry]})

    def _altered(self) -> ApiProbe:
        value = str(self._rng.randint(1, 1000) * 3_600_000)
        topic = self._rng.choice(self._script.cluster.topics).name
        return self._send("incremental_alter_configs", altered(TOPIC, topic, "retention.ms", value))

    def _removed(self) -> ApiProbe:
        cluster = self._script.cluster
        voter = self._rng.choice([each for each in cluster.quorum if each not in cluster.without_vote])
        body = {"voter_id": cluster.id_of_controller(voter), "voter_directory_id": None}
        return self._send("remove_raft_voter", body, "K853-01")

    def _send(self, request: str, body: dict[str, Any], rule: str = "K631-17") -> ApiProbe:
        factor = self._script.cluster.target.timeout_factor
        how = Asked(self._node, SOON_MS * factor, background=True, expect=never(rule, "served"))
        return api(self._script, f"minority-{request.replace('_', '-')}", how, request, body)
