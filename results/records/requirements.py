"""The requirements of one run as `verdict.json` has them: the text of each, and its state in this run."""

from dataclasses import dataclass
from enum import StrEnum


class RequirementState(StrEnum):
    """The state of one requirement in one run, the weightiest first.

    BROKEN: a violation. NOT_COVERED: a check of it was inconclusive. AS_LISTED: the target differs, as its file lists.
    HELD: a step, an expectation or a checker judged it, and it held. NOT_EXERCISED: the plan names it, and nothing in
    the run judged it.
    """

    BROKEN = "broken"
    NOT_COVERED = "not covered"
    AS_LISTED = "as listed"
    HELD = "held"
    NOT_EXERCISED = "not exercised"


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """One requirement in one run. All but id and state is None for an id that no installed catalogue has.

    `says` is the rule in one line, `document` and `section` are its source, `note` is its scope and its reasons.
    """

    id: str
    state: RequirementState
    says: str | None = None
    document: str | None = None
    section: str | None = None
    url: str | None = None
    note: str | None = None

    @property
    def rule(self) -> str:
        """Return the rule with its source: `A fenced broker processes no client request. (KIP-631, Fencing)`."""
        return f"{self.says} ({self.document}, {self.section})" if self.says else "no installed catalogue has this id"
