"""The values that a request claims of its answer by path, and the names that it gives to values of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from fencepost.harness.plan import paths
from fencepost.harness.plan.answers import ProbeAnswer, compared
from fencepost.harness.plan.asked import Asked
from fencepost.harness.plan.requests.request import KafkaRequest

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan


class Claiming(KafkaRequest):
    """A request whose answer is claimed by path. Its subclasses declare the fields, in the order of plan files."""

    written: ClassVar[str]
    """The key with plain data in which `$name` stands for a bound value, beside `answer`."""

    if TYPE_CHECKING:
        answer: dict[str, Any]
        binds: dict[str, str]
        within_ms: int

    @property
    def awaited_ms(self) -> int:
        return self.within_ms

    @property
    def bound(self) -> Mapping[str, str]:
        return self.binds

    def uses(self) -> Iterator[tuple[str, str]]:
        for key in (self.written, "answer"):
            for name in paths.bound_names(getattr(self, key)):
                yield key, name

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        try:
            for path in (*self.answer, *self.binds.values()):
                paths.check_path(path)
        except paths.MessageError as error:
            yield "answer", str(error)

    def judge(self, answer: Any, run: Asked, code: int, **body: object) -> ProbeAnswer:
        """Bind the values that the plan names, and return the outcome: that of `code`, or `different`.

        `body` goes into the journal.
        """
        for name, path in self.binds.items():
            if (bound := paths.at_path(answer, path)) is not None:
                run.bind(name, bound)
        claims = {path: run.value(claim) for path, claim in self.answer.items()}
        return compared(claims, {path: paths.at_path(answer, path) for path in claims}, code, **body)
