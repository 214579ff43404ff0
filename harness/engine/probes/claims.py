"""The values that a probe claims of an answer by path, and the names that it gives to values of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from fencepost.harness.engine.probes.answer import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.engine.references import References
from fencepost.harness.plan import messages
from fencepost.harness.plan.probes import ApiProbe, MetadataLogProbe


def judge_claims(
    probe: ApiProbe | MetadataLogProbe, answer: Any, references: References, code: int, **body: object
) -> ProbeAnswer:
    """Bind the values that the probe names, and return the outcome: that of `code`, or `different`.

    `body` goes into the journal.
    """
    for name, path in probe.binds.items():
        if (bound := messages.at_path(answer, path)) is not None:
            references.bound[name] = bound
    claims = {path: references.value(claim) for path, claim in probe.answer.items()}
    return compared(claims, {path: messages.at_path(answer, path) for path in claims}, code, **body)


def compared(claims: Mapping[str, object], found: Mapping[str, object], code: int, **body: object) -> ProbeAnswer:
    """Return the outcome of `code`, or `different` with each value that is not the one that the plan claims."""
    wrong = {key: found[key] for key, claim in claims.items() if found[key] != claim}
    if code == ErrorCode.none and wrong:
        of_wrong = {key: claims[key] for key in wrong}
        return ProbeAnswer(ProbeOutcome.DIFFERENT, None, {"claimed": of_wrong, "answered": wrong, **body})
    return answered(code, **body)
