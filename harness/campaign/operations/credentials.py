"""SCRAM credentials of users are given, changed and deleted (KIP-554)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.operations.mistakes import Mistake, MistakenRequests
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked, short
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, api
from fencepost.harness.plan.base import release_range
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases, within

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

RELEASES: Mapping[str, Releases] = {"apache-kafka": ">=3.5", "apache-kafka-zk": ">=2.7"}
ALTER = "alter_user_scram_credentials"
SHARED = "scram-user"
"""A user whose credentials several operations change, as those of the long one."""
LONG_USER = "u" * 1000
MECHANISMS = (1, 2)
ITERATIONS = (4096, 4097, 8192, 16384)
"""The fewest that there may be, the most, and some in between."""
MOST = 4
UNSUPPORTED, UNKNOWN, DUPLICATE, UNACCEPTABLE = 33, 91, 92, 93


class _OfCredentials(Operation):
    left_out = ONLY_KAFKA
    releases = RELEASES

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        both = release_range(version)
        if both and not all(within(release, RELEASES.get(target.name)) for release in both):
            return "its older release has no such requests"
        return super().left_out_reason(target, version, possible)


class ChangeCredentials(_OfCredentials):
    """A user gets credentials of one mechanism, gets others, and loses them, each request once or twice.

    A second deletion is refused, since nothing is there.
    """

    name = "change-credentials"
    weight = 2
    at_end = True

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        user = rng.choice((SHARED, script.name("scram-user"), LONG_USER))
        mechanism, there = rng.choice(MECHANISMS), False
        steps: list[Step] = []
        for _ in range(rng.randint(1, MOST)):
            deletes = rng.random() < 0.4
            body = deletion(user, mechanism) if deletes else upsertion(user, mechanism, rng.choice(ITERATIONS))
            for _ in range(rng.choice((1, 2))):
                how = asked(rng, script, certain=not deletes or (there and user not in (SHARED, LONG_USER)))
                steps.append(api(script, "delete" if deletes else "give", how, ALTER, body))
                there = not deletes and how.expect is not None
        return GeneratedOperation(f"credentials of {short(user)} changed by {len(steps)} requests", tuple(steps))


class MistakenCredentials(MistakenRequests, _OfCredentials):
    """Credentials are asked for that cannot be, or are deleted where there are none."""

    name = "mistaken-credentials"
    weight = 1

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        user, mechanism = "scram-unknown", rng.choice(MECHANISMS)
        few, many = upsertion(user, mechanism, ITERATIONS[0] - 1), upsertion(user, mechanism, ITERATIONS[-1] + 1)
        twice = {"deletions": deletion(user, 1)["deletions"], "upsertions": upsertion(user, 1, 4096)["upsertions"]}
        for title, body, errors in (
            ("too few iterations", few, (UNACCEPTABLE,)),
            ("too many iterations", many, (UNACCEPTABLE,)),
            ("credentials of no user", upsertion("", mechanism, 4096), (UNACCEPTABLE,)),
            ("an unknown mechanism", upsertion(user, 3, 4096), (UNSUPPORTED,)),
            ("a deletion of no credentials", deletion(user, mechanism), (UNKNOWN,)),
            ("one user's mechanism twice", twice, (UNKNOWN, DUPLICATE)),
        ):
            yield Mistake(title, ALTER, body, errors)


def upsertion(user: str, mechanism: int, iterations: int) -> dict[str, Any]:
    """Return the body that gives a user credentials. The salted password is one that no password has."""
    proof = {"salt": "a salt of sixteen", "salted_password": "0" * 32 * mechanism}
    credentials = {"name": user, "mechanism": mechanism, "iterations": iterations, **proof}
    return {"deletions": [], "upsertions": [credentials]}


def deletion(user: str, mechanism: int) -> dict[str, Any]:
    return {"deletions": [{"name": user, "mechanism": mechanism}], "upsertions": []}
