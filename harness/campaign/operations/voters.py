"""Controllers lose their votes in the metadata quorum, and get them again (KIP-853)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fencepost.harness.campaign.operations.operation import (
    ANSWERED_WITHIN_MS,
    SERVED_WITHIN_MS,
    Asked,
    GeneratedOperation,
    Operation,
)
from fencepost.harness.campaign.operations.requests import api, must
from fencepost.harness.network.addresses import PEER_PORT
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.voters_caught_up import VotersCaughtUp
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.cluster_spec import ClusterSpec
    from fencepost.harness.campaign.script import Script

GIVEN_BACK = 0.6
"""The fraction of changes that give a vote back, of those that could."""


class ChangeVoters(Operation):
    """A controller loses its vote while it runs, or gets it back; whatever is broken meanwhile.

    The answer is claimed if nothing is broken. After a removal that is claimed another controller is active. Such a
    removal awaits all voters first: the smaller set commits it only with a majority of its own, of which a controller
    that has just started is no part yet. A voter that is added catches up before it counts.
    """

    name = "change-voters"
    weight = 10
    level = "dynamic"
    left_out: Mapping[str, str] = dict.fromkeys(
        (Dialect.ZOOKEEPER, Dialect.LEADER_DRIVEN), "its metadata is in ZooKeeper, whose ensemble is fixed"
    )
    releases: Mapping[str, Releases] = {"apache-kafka": ">=3.9"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        cluster = script.cluster
        if cluster.target.levels and cluster.level != self.level:
            return None
        lost = [each for each in cluster.quorum if each in cluster.without_vote]
        voters = [each for each in cluster.quorum if each not in cluster.without_vote]
        if lost and (len(voters) == 1 or rng.random() < GIVEN_BACK):
            return self._added(rng.choice(lost), script)
        left = rng.choice(voters)
        removed = replace(cluster, without_vote=cluster.without_vote | {left})
        if not script.tolerates(removed):
            return None
        return self._removed(left, script, removed.without_vote)

    def _removed(self, node: str, script: Script, without_vote: frozenset[str]) -> GeneratedOperation:
        how, id = _asked(script, "K853-03"), script.cluster.id_of_controller(node)
        within_ms = script.cluster.liveness_timeout_ms
        body = {"voter_id": id, "voter_directory_id": self._directory(node, script)}
        steps: list[Step] = [api(script, "remove-voter", how, "remove_raft_voter", body, version=0)]
        if how.expect is not None:
            counts = Expect(level=Level.MUST, requirement="K853-06") if script.within else None
            steps.insert(0, VotersCaughtUp(as_=script.name("voters"), within_ms=within_ms, expect=counts))
            elected = Expect(level=Level.MUST, requirement="K853-03", also=("LIVE-02",))
            steps.append(ActiveController(as_=script.name("leads"), is_not=node, within_ms=within_ms, expect=elected))
        cluster = replace(_after(script.cluster, node, how), without_vote=without_vote)
        return GeneratedOperation(f"{node} loses its vote", tuple(steps), unsettles=True, cluster=cluster)

    def _added(self, node: str, script: Script) -> GeneratedOperation:
        how, id = _asked(script, "K853-01"), script.cluster.id_of_controller(node)
        if node in script.cluster.vote_unknown:  # it may have its vote: then the request is refused
            how = replace(how, expect=None)
        body = {
            "voter_id": id,
            "voter_directory_id": self._directory(node, script),
            "timeout": how.timeout_ms,
            "listeners": [{"name": "CONTROLLER", "host": node, "port": PEER_PORT}],
        }
        step = api(script, "add-voter", how, "add_raft_voter", body, version=0)
        # Without a claim it is not known whether the node votes.
        known = script.cluster.without_vote - {node} if how.expect is not None else script.cluster.without_vote
        cluster = replace(_after(script.cluster, node, how), without_vote=known)
        return GeneratedOperation(f"{node} gets a vote", (step,), unsettles=how.expect is None, cluster=cluster)

    def _directory(self, node: str, script: Script) -> str | None:
        """Return what stands for the id of a voter's directory, which is read before the first move; None: no id."""
        if script.cluster.target.dialect is Dialect.KIP_631:
            return None
        for each in script.cluster.quorum:
            script.ask_at_begin(_directory_of(each, script))
        return f"${_bound(node)}"


def _after(cluster: ClusterSpec, node: str, how: Asked) -> ClusterSpec:
    """Return the cluster after a change of a vote. Without a claim it may have been refused."""
    unknown = cluster.vote_unknown | {node} if how.expect is None else cluster.vote_unknown - {node}
    return replace(cluster, vote_unknown=unknown)


def _asked(script: Script, requirement: str) -> Asked:
    """Return how the active controller is asked. There may be none: without a claim the answer is not waited for."""
    factor = script.cluster.target.timeout_factor
    if script.undisturbed:
        return Asked("active-controller", SERVED_WITHIN_MS * factor, expect=must(requirement))
    return Asked("active-controller", ANSWERED_WITHIN_MS * factor, background=True)


def _directory_of(node: str, script: Script) -> ApiProbe:
    """Return the question for the directory of a voter."""
    voter = f"topics[0].partitions[0].current_voters[replica_id={script.cluster.id_of_controller(node)}]"
    return ApiProbe(
        as_=f"directory-of-{node}",
        node="active-controller",
        api="describe_quorum",
        version=2,
        body={"topics": [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]},
        binds={_bound(node): f"{voter}.replica_directory_id"},
        timeout_ms=SERVED_WITHIN_MS * script.cluster.target.timeout_factor,
    )


def _bound(node: str) -> str:
    return f"directory-{node}"
