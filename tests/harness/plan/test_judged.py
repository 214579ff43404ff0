"""The claims of a plan are those of its steps, each requirement on its own."""

from __future__ import annotations

from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.judged import Claim, claims, judged_requirements
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


def test_a_plan_is_judged_by_its_claims_and_by_what_every_run_of_its_design_is_judged_by() -> None:
    deviations = [
        {"difference": "LF-01", "requirement": "HW-02", "level": "may"},
        {"difference": "LF-01", "requirement": "HW-04", "level": "must"},
    ]
    made = plan(deviations=deviations, requirements=("K631-57",))
    judged = judged_requirements(made, Dialect.KIP_631)
    assert {"ACK-01", "CTRL-01", "HW-04"} <= judged
    assert not judged & {"K631-57", "HW-02", "INT-01"}, "named or allowed is not judged"
    assert "DINT-04" in judged_requirements(made, Dialect.ZOOKEEPER)
    assert "CTRL-01" not in judged_requirements(made, Dialect.LEADER_DRIVEN)
