from typing import Any

import pytest

from fencepost.faults.parameters import key_of
from fencepost.faults.registry import FAULTS
from fencepost.harness.plan.prose import claim_in_words, error_name, fault_in_words, step_in_words
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts
from tests.harness.checkers.plans import plan


def only_step(**step: Any) -> Any:
    return plan(steps=[step]).steps[0]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            {"do": "inject", "as": "cut", "fault": "cut", "from": "node-6", "to": "controllers"},
            "node-6 is cut off from the controllers",
        ),
        (
            {"do": "inject", "as": "dies", "fault": "kill", "nodes": ["node-5", "node-6"]},
            "node-5 and node-6 are killed",
        ),
        ({"do": "inject", "as": "dies", "fault": "kill", "nodes": "$old"}, "node-4 is killed"),
        ({"do": "heal", "fault": "cut"}, "Heal `cut`"),
        ({"do": "hold", "after": "cut.proven", "ms": 1500}, "Wait until 1.5 s after `cut` was proven"),
        (
            {"do": "await", "condition": "leader", "partition": "t-0", "is_not": "node-6", "within_ms": 9000},
            "Wait until another node than node-6 leads t-0",
        ),
        (
            {
                "do": "await",
                "condition": "isr",
                "partition": "t-0",
                "lacks": "node-6",
                "within_ms": 30000,
                "expect": {"level": "must", "requirement": "D631-07"},
            },
            "The ISR of t-0 lacks node-6 within 30 s",
        ),
        (
            {
                "do": "await",
                "condition": "active-controller",
                "is": "$old",
                "within_ms": 500,
                "expect": {"level": "never", "requirement": "D631-07"},
            },
            "Never within 0.5 s: node-4 is the active controller",
        ),
        (
            {
                "do": "probe",
                "request": "metadata",
                "node": "node-6",
                "repeat": 2,
                "expect": {"level": "never", "requirement": "K631-32", "outcome": "served"},
            },
            "Ask node-6 for metadata, 2 times: never served",
        ),
        (
            {
                "do": "probe",
                "request": "heartbeat",
                "node": "active-controller",
                "broker": "node-6",
                "broker_epoch": "$epoch",
                "expect": {"level": "must", "requirement": "D631-19", "outcome": "error:77"},
            },
            "Send the active controller a heartbeat in the name of node-6 at broker epoch 12: must be answered with "
            "STALE_BROKER_EPOCH (77)",
        ),
    ],
)
def test_a_step_is_described_by_its_kind_and_arguments(step: dict[str, Any], words: str) -> None:
    assert claim_in_words(only_step(**step), {"old": "node-4", "epoch": 12}) == words


def test_a_fault_is_described_with_the_nodes_that_the_run_hit() -> None:
    parameters = {"nodes": ["node-1"], "from": ["node-1", "node-2", "node-3", "node-4", "node-5"]}
    assert fault_in_words("isolate", parameters, past=True) == "node-1 was isolated from 4 nodes"
    assert fault_in_words("stall", {"from": ["node-5"], "to": ["node-4"]}, past=True) == (
        "the requests and replies of connections from node-5 to node-4 were held back"
    )


def test_a_fault_that_is_not_known_here_is_described_by_its_name_and_nodes() -> None:
    assert fault_in_words("of-another-package", {"nodes": ["node-4"]}) == "`of-another-package` is in effect on node-4"
    assert fault_in_words("cut", {}) == "`cut` is in effect"


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_has_a_phrase_of_its_own_parameters(name: str) -> None:
    fields = {key_of(field): ["node-4"] for field in FAULTS[name].Parameters.model_fields}
    words = fault_in_words(name, fields)
    assert "in effect" not in words
    assert not {"{", "}", "?"} & set(words)


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_no_step_of_any_scenario_shows_a_key_or_a_placeholder(target: str) -> None:
    facts = TargetFacts.of(target)
    for scenario in scenarios_for(facts):
        for step in scenario.plan(facts, 1).steps:
            words = step_in_words(step)
            assert not {"{", "}", "None"} & set(words.split()), words
            assert " " in words, words


def test_an_error_has_its_name_and_number() -> None:
    assert error_name(77) == "STALE_BROKER_EPOCH (77)"
    assert error_name(1343) == "error 1343"
