"""The claims of a plan are those of its steps, each requirement on its own."""

from __future__ import annotations

from fencepost.harness.plan.claims import Claim, claims
from tests.harness.checkers.plans import plan


def test_a_step_claims_its_requirement_and_those_that_it_proves_also() -> None:
    probe = {
        "do": "probe",
        "request": "metadata",
        "as": "asked",
        "node": "node-4",
        "topic": "t",
        "expect": {"level": "never", "requirement": "K631-32", "also": ["K631-43"], "outcome": "served"},
    }
    made = plan(steps=[probe], deviations=[{"difference": "LF-01", "requirement": "ACK-01"}])
    assert list(claims(made)) == [
        Claim("K631-32", "asked", "never", "served"),
        Claim("K631-43", "asked", "never", "served"),
        Claim("ACK-01", None, "must", difference="LF-01"),
    ]
