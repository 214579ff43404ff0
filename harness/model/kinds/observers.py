"""Observers of the metadata quorum: each broker that serves, but for one that votes.

They are held against the brokers of the same look: those that answer for themselves, and that all others name.

Sources: KIP-595; KIP-836; the description of DescribeQuorum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fencepost.harness.model.kind import Asked, OfOneLook, Question, Scope
from fencepost.harness.model.kinds.log_dirs import LogDirs
from fencepost.harness.model.kinds.registrations import Registrations
from fencepost.harness.model.kinds.voters import VOTERS, metadata_partition, quorum_question
from fencepost.harness.model.sent import Description


class Observers(OfOneLook):
    """The active controller describes each broker that serves as an observer or a voter."""

    name = "observers"
    requirement = "MDL-21"
    asked = Asked.CONTROLLERS

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield quorum_question(scope)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the ids of observers and voters as the leader has them. Only the leader answers."""
        partition = metadata_partition(answer)
        if partition is None:
            return None
        replicas = [*partition["observers"], *partition["current_voters"]]
        return {VOTERS: sorted({replica["replica_id"] for replica in replicas})}

    def contradictions(self, descriptions: Sequence[Description]) -> Iterator[tuple[Description, str, str, str]]:
        """Yield each broker that serves and is described neither as an observer nor as a voter."""
        named = [set(each.objects) for each in descriptions if each.kind == Registrations.name]
        serve = {name for each in descriptions if each.kind == LogDirs.name for name in each.scope or ()}
        for description in descriptions if named else ():
            if description.kind == self.name:
                missing = serve.intersection(*named) - {f"broker {id}" for id in description.objects[VOTERS]}
                for name in sorted(missing):
                    yield description, VOTERS, f"without {name}", f"with {name}, which serves"
