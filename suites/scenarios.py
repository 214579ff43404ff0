"""All scenarios, by suite, and which of them apply to a target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fencepost.harness.extensions import ExtensionError, installed, load_reference
from fencepost.harness.targets.registry import load_file
from fencepost.suites.scenario import Scenario, declared_in
from fencepost.suites.target_facts import TargetFacts

SUITES = {
    name: declared_in(f"fencepost.suites.{name}")
    for name in (
        "kip_631",
        "kraft_kips",
        "internals",
        "kip_343",
        "replica_state_event",
        "replication_v2",
        "faults",
        "any",
    )
}
"""The scenarios of documents, and those of faults, by the name of their folder, which is also a pytest marker."""


def longest_first(scenarios: Iterable[Scenario]) -> tuple[Scenario, ...]:
    """Return the scenarios in the order in which a suite starts them, so that none runs alone at the end."""
    return tuple(sorted(scenarios, key=lambda scenario: -scenario.seconds))


SCENARIOS = longest_first(scenario for suite in SUITES.values() for scenario in suite)


GROUP = "fencepost.scenarios"
"""The group of entry points that name scenarios: `acme = "acme_fencepost.scenarios:SCENARIOS"`."""


def suites_for(target: TargetFacts) -> Mapping[str, tuple[Scenario, ...]]:
    """Return all suites by name: the shipped ones, those of installed packages, and those that the target file names.

    ExtensionError if one of them cannot be loaded, or if two scenarios have one name.
    """
    suites = SUITES | dict(_added(target))
    owners: dict[str, str] = {}
    for suite, scenarios in suites.items():
        for scenario in scenarios:
            if (owner := owners.setdefault(scenario.slug, suite)) != suite:
                raise ExtensionError(f"the scenario {scenario.slug} is in the suites {owner} and {suite}: rename one")
    return suites


def _added(target: TargetFacts) -> Iterator[tuple[str, tuple[Scenario, ...]]]:
    for name, point in installed(GROUP).items():
        yield name.replace("-", "_"), _load(point.value)
    file = load_file(target.reference)
    for reference in file.scenarios:
        yield reference.partition(":")[0].rpartition(".")[2], _load(reference, file.beside)


def _load(reference: str, beside: Sequence[Path] = ()) -> tuple[Scenario, ...]:
    loaded = load_reference(reference, beside)
    scenarios = (loaded,) if isinstance(loaded, Scenario) else loaded
    if not isinstance(scenarios, tuple | list) or not all(isinstance(scenario, Scenario) for scenario in scenarios):
        raise ExtensionError(f"{reference} is {loaded!r}: a tuple of Scenario objects is needed")
    return tuple(scenarios)


def scenarios_for(target: TargetFacts, scenarios: Iterable[Scenario] | None = None) -> tuple[Scenario, ...]:
    """Return the scenarios whose document describes the target's design, at a level that the target has.

    They are the longest first. Without `scenarios` they are those of all suites. Raises as `suites_for` does.
    """
    if scenarios is None:
        scenarios = longest_first(scenario for suite in suites_for(target).values() for scenario in suite)
    return tuple(scenario for scenario in scenarios if scenario.applies_to(target))
