"""The rounds of a fleet's campaign: which plans each has, and by what they were chosen. Files keep both.

`rounds/0001.json` has the numbers of the plans of a round, and what the executors lacked, `rounds/0001-guidance.json`
what was known before it: these two decide the plans, so that a round can be generated again on any machine, and a
driver that was killed goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.campaign import Order
from fencepost.harness.campaign.guidance import Guidance
from fencepost.harness.campaign.guided import GuidedPlans
from fencepost.harness.campaign.planner import generate
from fencepost.harness.plan import Plan
from fencepost.results.records.files import read_json, write_json
from fencepost.results.records.survey import ROUNDS_FOLDER


@dataclass(frozen=True)
class Round:
    """Plans that run side by side. `numbers` are those of the campaign; `again` those that run a second time.

    `lacks`: what the executors are not capable of, with the reasons.
    """

    folder: Path
    number: int
    numbers: tuple[int, ...]
    again: frozenset[int] = frozenset()
    lacks: Mapping[Capability, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / ROUNDS_FOLDER / f"{self.number:04}.json"

    @property
    def guidance_file(self) -> Path:
        return self.file.with_name(f"{self.number:04}-guidance.json")

    def save(self, guidance: Guidance, outcomes: list[dict[str, Any]] | None = None) -> None:
        """Write the files of the round; with the outcomes once it is over."""
        self.file.parent.mkdir(exist_ok=True)
        if outcomes is None:
            guidance.save(self.guidance_file)
        lacks = {each.value: reason for each, reason in self.lacks.items()}
        numbers = {"numbers": self.numbers, "again": sorted(self.again), "lacks": lacks}
        write_json(self.file, {"round": self.number, **numbers, "outcomes": outcomes})

    def plans(self, order: Order, guidance: Guidance) -> Iterator[tuple[int, Plan]]:
        """Yield each plan with its number: that of its seed, as the guidance of the round chooses it."""
        make = partial(generate, order.target, order.backend, security=order.security, lacks=self.lacks)
        choices = GuidedPlans(make, guidance).choices(map(order.plan_seed, self.numbers))
        yield from zip(self.numbers, (each.plan for each in choices), strict=True)


def saved_rounds(folder: Path) -> Iterator[tuple[Round, Guidance, list[dict[str, Any]] | None]]:
    """Yield the rounds of a campaign that was begun, with guidance and outcomes; None for one that is not over."""
    for file in sorted((folder / ROUNDS_FOLDER).glob("[0-9][0-9][0-9][0-9].json")):
        written = read_json(file)
        lacks = {Capability(name): reason for name, reason in written["lacks"].items()}
        found = Round(folder, written["round"], tuple(written["numbers"]), frozenset(written["again"]), lacks)
        yield found, Guidance.load(found.guidance_file), written["outcomes"]
