"""Options of faults on the command line are the fields of their inject steps."""

from __future__ import annotations

import pytest

from fencepost.faults.registry import FAULTS
from fencepost.harness.cli import catalogue
from fencepost.harness.cli.catalogue import find, parse, step_of, usage
from fencepost.harness.errors import UsageError


def test_every_fault_that_exists_can_be_injected_by_hand() -> None:
    assert set(catalogue.known()) == set(FAULTS)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_says_what_it_models_and_how_it_is_called(name: str) -> None:
    fault = find(name)
    assert fault.summary.endswith(".")
    assert usage(fault).startswith(f"`fencepost inject {name} --")
    assert [each.option for each in fault.parameters][-2:] == ["--when", "--plus-ms"]
    assert fault.parameters[-1].meaning == "Inject this many milliseconds after `when` has come true."


def test_options_become_the_step_of_a_plan() -> None:
    slow = find("slow")
    params = parse(slow, ["--from", "node-4", "node-5", "--to", "brokers", "--to", "site:main", "--latency", "200"])
    step = step_of(slow, params, "x")
    assert step.model_dump(include={"from_", "to", "latency_ms", "fault"}) == {
        "fault": "slow",
        "from_": ("node-4", "node-5"),
        "to": ("brokers", "site:main"),
        "latency_ms": 200,
    }


def test_a_single_value_of_what_takes_several_is_enough() -> None:
    loop = find("crash-loop")
    assert step_of(loop, parse(loop, ["--node=node-4", "--lives-ms", "200"]), "x").lives_ms == (200,)  # type: ignore[attr-defined]


def test_a_negative_number_is_a_value() -> None:
    jump = find("clock-jump")
    assert step_of(jump, parse(jump, ["--nodes", "node-4", "--ms", "-3600000"]), "x").ms == -3_600_000  # type: ignore[attr-defined]


def test_what_a_fault_waits_for_is_written_as_in_a_plan() -> None:
    kill = find("kill")
    step = step_of(kill, parse(kill, ["--nodes", "node-4", "--when", "{says: fenced, within_ms: 5000}"]), "x")
    assert step.when is not None
    assert step.when.within_ms == 5000


@pytest.mark.parametrize("name", FAULTS)
def test_the_nodes_of_every_fault_have_one_option(name: str) -> None:
    fault = find(name)
    assert "--nodes" not in [each.option for each in fault.parameters]
    key = "nodes" if "nodes" in fault.step.model_fields else "node"
    if key in fault.step.model_fields:
        assert parse(fault, ["--node", "node-4"]) == parse(fault, ["--nodes", "node-4"]) == {key: "node-4"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("cutt --from a", "did you mean `cut`"),
        ("slow --frm node-4", "did you mean --from"),
        ("cut --from node-4", "--to is missing: `fencepost inject cut --from NODE --to NODE"),
        ("cut node-4", "'node-4' follows no option"),
        ("kill", "--node is missing: `fencepost inject kill --node NODE..."),
        ("cut --from", "--from needs a value"),
        ("slow --from a --to b", "what is slow has"),
        ("slow --from a --to b --latency much", "--latency-ms: input should be a valid integer"),
        ("isolate --nodes a --from b --how burn", "'cut', 'stall' or 'blackhole', not 'burn'"),
        ("kill --nodes a --when {says", "begins like YAML but is not valid YAML"),
    ],
)
def test_a_mistake_is_answered_with_the_way_it_is_meant(words: str, message: str) -> None:
    name, *options = words.split()
    with pytest.raises(UsageError) as refused:
        fault = find(name)
        step_of(fault, parse(fault, options), "x")
    assert message in str(refused.value)
