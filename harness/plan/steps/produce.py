"""Send a burst of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from fencepost.harness.plan.base import Acks, After, ExpectOutcome, Milliseconds, Name, NodeRef
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.requests.produce import send_record
from fencepost.harness.plan.steps.step import PlanStep
from fencepost.harness.wire.no_answer import NoAnswer

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan


LARGEST = 10_000_000
"""The most bytes that a value may have: far above any default, and far below the memory of a node."""


class Produce(PlanStep):
    """A burst of records, each sent after the response to the one before: to `node`, or to the leader.

    Each record is journalled by itself, so the step has no outcome of its own.
    """

    phrase = "Produce {records} records to {topic}-{partition}, acks={acks}"
    harmless = True
    do: Literal["produce"] = "produce"
    as_: Name | None = None
    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    records: Annotated[int, Field(ge=1)] = 1
    size: Annotated[int, Field(ge=1, le=LARGEST)] = 1
    """The bytes of each value, of which its name is the least."""
    acks: Acks = "all"
    idempotent: bool = False
    node: NodeRef | None = None
    timeout_ms: Milliseconds = 5000
    after: After | None = None
    expect: ExpectOutcome | None = None
    """A claim about each record."""

    @property
    def clause(self) -> str:
        through = " through {node}" if self.node else ""
        records = f"{{records}} record{'s'[: self.records != 1]}" + " of {size} bytes" * (self.size > 1)
        return f"Produce {records} to {{topic}}-{{partition}}{through}, acks={{acks}}"

    @property
    def requests(self) -> tuple[str, ...]:
        return ("produce", "init_producer_id") if self.idempotent else ("produce",)

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        if self.idempotent and (self.node is not None or self.acks != "all"):
            yield "idempotent", "an idempotent burst needs `acks: all` and no `node`"
        if self.size > 1 and self.node is not None:
            yield "size", "a burst through a `node` has records without filling"

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        if self.node is None:
            sent, acknowledged = run.burst(name, self)
            return {"sent": sent, "acknowledged": acknowledged}
        node, acknowledged = run.node(self.node), 0
        for number in range(self.records):
            try:
                with run.connect(node, self.timeout_ms / 1000) as connection:
                    answer = send_record(
                        connection,
                        run.journal,
                        process=name,
                        number=number,
                        topic=self.topic,
                        partition=self.partition,
                        acks=self.acks,
                        timeout_ms=self.timeout_ms,
                    )
                    acknowledged += answer.outcome == "served"
            except NoAnswer:
                continue
        return {"node": node, "sent": self.records, "acknowledged": acknowledged}
