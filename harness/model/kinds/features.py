"""Features at the levels at which they were finalized, and the epochs in which nodes describe them.

Sources: the descriptions of UpdateFeatures and ApiVersions; KIP-584 (finalized features, and that their epoch only
grows), KIP-778 (types of upgrades); of metadata.format, D631-42.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fencepost.harness.model.effect import Effect, Validation
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

UPGRADE = 1
"""The type of a change that must not lower the level."""
NEVER_LOWERED = "metadata.format"
INVALID_LEVEL, FAILED = 95, 96
UNKNOWN_EPOCH = -1
API_VERSIONS = ("api_versions", {"client_software_name": "fencepost", "client_software_version": "1"})


@dataclass(frozen=True)
class _Change(Effect):
    level: int
    may_lower: bool

    @property
    def title(self) -> str:
        return f"{'downgrade' if self.may_lower else 'upgrade'} {self.object} to {self.level}"

    def refusals(self, state: State) -> frozenset[int]:
        assert isinstance(state, int)
        may_lower = self.may_lower and self.object != NEVER_LOWERED
        return frozenset({INVALID_LEVEL, FAILED} if self.level < state and not may_lower else ())

    def after(self, state: State) -> State:
        return self.level


class FeatureLevels(Kind):
    """Each feature has the level at which it was finalized last; 0: it is not finalized."""

    name = "feature levels"
    forwarded = True
    requirement = "MDL-07"
    changed_by = frozenset({"update_features"})
    absent: ClassVar[State] = 0

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question(*API_VERSIONS)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if _epoch(answer) is None:
            return None
        return {each["name"]: each["max_version_level"] for each in answer["finalized_features"]}

    def state(self, seen: Any) -> State:
        return int(seen)

    def says(self, state: State) -> str:
        return f"level {state}" if state else "not finalized"

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        """Yield one effect for each feature. The newest answers have one error for all of them."""
        of_all = None if sent.response is None else sent.response["error_code"]
        codes = {answer["feature"]: answer["error_code"] for answer in results(sent.response, "results")}
        for update in sent.body["feature_updates"]:
            name = update["feature"]
            code = of_all or codes.get(name, of_all)
            may_lower = update.get("allow_downgrade") or update.get("upgrade_type", UPGRADE) != UPGRADE
            effect = _Change(name, code, update["max_version_level"], bool(may_lower))
            yield Validation(name, code, effect) if sent.body.get("validate_only") else effect


class FeatureEpochs(Kind):
    """No node describes features in an earlier epoch than it did before."""

    name = "feature epochs"
    forwarded = True
    requirement = "MDL-07"
    changed_by: ClassVar[frozenset[str]] = frozenset()
    of_each_node = True

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question(*API_VERSIONS, [f"broker {scope.node_id}"])

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        epoch = _epoch(answer)
        return None if epoch is None or question.scope is None else {question.scope[0]: epoch}

    def state(self, seen: Any) -> State:
        return int(seen)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        if isinstance(state, int) and isinstance(seen, int) and seen >= state:
            yield seen

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        yield from ()


def _epoch(answer: Mapping[str, Any]) -> int | None:
    """Return the epoch of the features in an answer, None if it has none."""
    epoch = answer.get("finalized_features_epoch", UNKNOWN_EPOCH)
    return None if answer["error_code"] or epoch == UNKNOWN_EPOCH else int(epoch)
