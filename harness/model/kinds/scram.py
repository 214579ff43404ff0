"""Users that log in by SCRAM: their mechanisms, with the iterations of each.

Sources: the descriptions of AlterUserScramCredentials and DescribeUserScramCredentials; KIP-554.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.harness.model.effect import Deletion, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
FEWEST, MOST = 4096, 16384
"""The iterations that a credential may have."""
UNKNOWN, UNACCEPTABLE = 91, 93


@dataclass(frozen=True)
class _Upsertion(Effect):
    iterations: int

    @property
    def title(self) -> str:
        return f"give {self.object} {self.iterations} iterations"

    def refusals(self, state: State) -> frozenset[int]:
        return frozenset() if FEWEST <= self.iterations <= MOST else frozenset({UNACCEPTABLE})

    def after(self, state: State) -> State:
        return self.iterations


@dataclass(frozen=True)
class _Deletion(Deletion):
    def refusals(self, state: State) -> frozenset[int]:
        return frozenset({UNKNOWN}) if state is None else frozenset()


class ScramCredentials(Kind):
    """Each user has the mechanisms that were given to it and not deleted, with the iterations that were given last."""

    name = "SCRAM credentials"
    forwarded = True
    requirement = "MDL-06"
    changed_by = frozenset({"alter_user_scram_credentials"})

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("describe_user_scram_credentials", {"users": None})

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if answer["error_code"]:
            return None
        return {
            _object(result["user"], credential["mechanism"]): credential["iterations"]
            for result in answer["results"]
            if not result["error_code"]
            for credential in result["credential_infos"]
        }

    def state(self, seen: Any) -> State:
        return int(seen)

    def says(self, state: State) -> str:
        return "absent" if state is None else f"{state} iterations"

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        """Yield one effect for each credential. All of one user are changed, or none."""
        codes = {answer["user"]: answer["error_code"] for answer in results(sent.response, "results")}
        for each in sent.body["deletions"]:
            yield _Deletion(_object(each["name"], each["mechanism"]), codes.get(each["name"]))
        for each in sent.body["upsertions"]:
            yield _Upsertion(_object(each["name"], each["mechanism"]), codes.get(each["name"]), each["iterations"])


def _object(user: str, mechanism: int) -> str:
    return f"{user}/{MECHANISMS.get(mechanism, mechanism)}"
