"""Clients of coordinators that send single requests: offsets of a group without members, and groups of odd names."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, any_broker, api, excusing, must, never
from fencepost.harness.plan.base import release_range
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

NAMES = ("g", "0", "a:b", "a b", "..", "ä", "g" * 300)
"""Names of groups, of which none is illegal."""
COORDINATOR = "leader:__consumer_offsets-0"
"""The offsets have one partition, so there is one coordinator."""
GROUP, TRANSACTIONAL_ID, SHARE = range(3)
"""The types of keys in FindCoordinator."""
LONG = "x" * 5000
"""More metadata than `offset.metadata.max.bytes` allows by default, 4096."""
TOO_LARGE = 12
UNFIT_FETCH = 1
"""The version whose error for a whole group some releases leave out (KAFKA-19439)."""
OLD_FETCHES = (UNFIT_FETCH, 2, 3, 5, 6)
"""Versions of OffsetFetch that have no error for the whole group, or one for the group and not for each topic."""
STABLE_FETCH = 7
"""The first version that can ask for offsets that no transaction may still change."""


class OffsetsWithoutMembers(Operation):
    """Offsets of a group without members are committed, in part with too much metadata, and fetched.

    What was accepted is there, and a broker that is asked in place of the coordinator says so: it is never answered
    with other offsets (CRD-01, CRD-02).
    """

    name = "offsets-without-members"
    weight = 3
    at_end = of_whole_clusters = True
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.5"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        group, topic = script.name("offsets-of"), rng.choice(script.cluster.topics)
        offsets = [rng.randint(1, 1000) for _ in topic.assignments]
        refused = rng.choice((None, None, *range(len(offsets))))
        kept = [place != refused for place in range(len(offsets))]
        within_ms = script.cluster.liveness_timeout_ms
        how = any_broker(rng, script, "CRD-01")
        to_coordinator = replace(how, node=COORDINATOR, expect=None)
        find = {"key": group, "key_type": GROUP}
        partitions = [
            {"partition_index": place, "committed_offset": offset, "committed_metadata": "" if keep else LONG}
            for place, (offset, keep) in enumerate(zip(offsets, kept, strict=True))
        ]
        commit = {"group_id": group, "generation_id_or_member_epoch": -1, "member_id": ""}
        commit["topics"] = [{"name": topic.name, "partitions": partitions}]
        fetch = {"group_id": group, "topics": [{"name": topic.name, "partition_indexes": [*range(len(offsets))]}]}
        stored = {
            f"topics[0].partitions[partition_index={place}].committed_offset": offset if keep else -1
            for place, (offset, keep) in enumerate(zip(offsets, kept, strict=True))
        }
        wrong = never("CRD-01", "different")
        unfit = excusing(wrong, script, "KAFKA-19439")
        committed = must("CRD-03") if all(kept) else must("CRD-02", f"error:{TOO_LARGE}")
        fetches = [
            api(
                script,
                "fetch",
                replace(any_broker(rng, script, "CRD-01"), expect=unfit if version == UNFIT_FETCH else wrong),
                "offset_fetch",
                fetch,
                version=version,
                answer=stored,
            )
            for version in rng.sample(OLD_FETCHES, 3)
        ]
        steps: list[Step] = [
            api(script, "find", how, "find_coordinator", find, version=3, within_ms=within_ms),
            api(
                script,
                "commit",
                replace(to_coordinator, expect=committed),
                "offset_commit",
                commit,
                version=7,
                within_ms=within_ms,
            ),
            *fetches,
            api(
                script,
                "fetch",
                replace(to_coordinator, expect=must("CRD-02")),
                "offset_fetch",
                {**fetch, "require_stable": True},
                version=STABLE_FETCH,
                answer=stored,
                within_ms=within_ms,
            ),
        ]
        return GeneratedOperation(f"{len(offsets)} offsets committed without a member", tuple(steps))


class FindCoordinator(Operation):
    """A client asks for the coordinator of a group, a transactional id or a share group of an odd name (CRD-01)."""

    name = "find-coordinator"
    weight = 1
    at_end = True
    left_out: Mapping[str, str] = {
        **ONLY_KAFKA,
        "apache-kafka-zk": "it has no share groups, and the other coordinators are found by the workloads",
    }
    releases: Mapping[str, Releases] = {"apache-kafka": ">=4.2"}

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        # The feature of share groups stays off in a cluster that began without it, until it is finalized.
        if both := release_range(version):
            version = both[0]
        return super().left_out_reason(target, version, possible)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        steps: list[Step] = []
        for type in (GROUP, TRANSACTIONAL_ID, SHARE):
            # The key of a share group's state is its name, the id of a topic and a partition.
            of = ":Wq5JrJ0cQEaJ7h9pVQ3dPA:0" if type == SHARE else ""
            names = rng.sample(NAMES, 2)
            how = any_broker(rng, script, "CRD-01")
            within_ms = script.cluster.liveness_timeout_ms if how.expect else 0
            body = {"key_type": type, "coordinator_keys": [f"{name}{of}" for name in names]}
            steps.append(api(script, "find", how, "find_coordinator", body, version=6, within_ms=within_ms))
        return GeneratedOperation("coordinators of odd names found", tuple(steps))
