"""A fleet of 64 machines and 10,000 plans, without clusters: plans until the first violation, and time that is lost.

A model of the planner: the plans of a campaign are chosen from a population of plain plans that the real planner made,
by the real score. A defect is a combination that a plan tries (1 to 4 factors), or two of fault and role in one plan.
The first plan that has it finds it.

- `plain`: no plan is chosen by anything.
- `once`: each plan is the best of some by what the campaign's plans before it had. The store is not mined again.
- `rounds`: the store is mined between rounds, as a fleet does it: of the runs before the round some count for each
  combination, and all plans of the round.

The second table has the time of the machines that does not go into plans: waiting for the last plan of a round, and the
plans of machines that were lost, which run again.

`python -m tests.bench.fleet_model` prints both tables; `--write` puts them into docs/fleet.md.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from statistics import median

import numpy as np

from fencepost.harness.campaign.campaign import NOT_TWICE
from fencepost.harness.campaign.combinations import Combination, parts, tried
from fencepost.harness.campaign.guided import _WEIGHTS, FREE, KNOWN, VARIANTS, _pattern, seconds
from fencepost.harness.campaign.planner import generate
from tests.bench.learning import Planted, plant

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fleet.md"
BEGIN, END = "<!-- tests.bench.fleet_model -->\n", "<!-- end -->\n"
MACHINES, PLANS, PER_ROUND = 64, 10_000, (50, 640)
WAYS = ("plain", "once", *(f"rounds of {each}" for each in PER_ROUND))
ROUNDS = (50, 64, 128, 320, 640, 1280)
LOSSES = (0.0, 0.1, 1.0)
"""Times that a machine is lost in an hour."""
AWAY = 120.0
"""Seconds until a lost machine, or another in its place, takes plans again."""


@dataclass(frozen=True)
class Population:
    """Plain plans: the combinations of each, by number, with the smaller ones; and about how long it takes, s."""

    having: Sequence[np.ndarray]
    seconds: np.ndarray
    weights: np.ndarray
    """The weight of each combination in the score."""
    tried: Sequence[frozenset[Combination]]

    @classmethod
    def make(cls, target: str, plans: int, workers: int) -> Population:
        seeds = [(target, 9001 * NOT_TWICE + number) for number in range(1, plans + 1)]
        with Pool(workers) as pool:
            made = pool.map(_plan, seeds, chunksize=20)
        numbers: dict[Combination, int] = {}
        having = [np.array(sorted(numbers.setdefault(part, len(numbers)) for part in parts(of))) for of, _ in made]
        weights = np.array([_WEIGHTS[_pattern(each)] for each in numbers])
        return cls(having, np.array([took for _, took in made]), weights, [of for of, _ in made])


def _plan(of: tuple[str, int]) -> tuple[frozenset[Combination], float]:
    plan = generate(of[0], "process", of[1])
    return tried(plan), seconds(plan)


def campaign(of: Population, way: str, rng: random.Random, plans: int) -> Iterator[int]:
    """Yield the places of the plans of a campaign in the population."""
    per_round = int(way.split()[-1]) if way.startswith("rounds") else plans
    counts = np.zeros(len(of.weights))
    for number in range(plans):
        if number % per_round == 0:
            counts = np.minimum(counts, KNOWN)
        if way == "plain" or rng.random() < FREE:
            chosen = rng.randrange(len(of.having))
        else:
            few = rng.sample(range(len(of.having)), min(VARIANTS, len(of.having)))
            chosen = max(few, key=lambda each: _score(of, each, counts))
        counts[of.having[chosen]] += 1
        yield chosen


def _score(of: Population, place: int, counts: np.ndarray) -> float:
    here = of.having[place]
    there = counts[here]
    return float((of.weights[here] / ((there + 1) * (there + 2))).sum() / of.seconds[place])


@dataclass(frozen=True)
class Trial:
    """The number of the first plan of a campaign that shows a defect; None: no plan does."""

    planted: Planted
    way: str
    first: int | None


def trials(
    of: Population, planted: Sequence[Planted], shows: Sequence[set[int]], seed: int, plans: int
) -> Iterator[Trial]:
    """Yield the trials of all defects in one campaign of each way. `shows`: the plans that show each defect."""
    for way in WAYS:
        first: dict[int, int] = {}
        for number, place in enumerate(campaign(of, way, random.Random(f"{way} {seed}"), plans), 1):
            first.setdefault(place, number)
        for defect, places in zip(planted, shows, strict=True):
            numbers = [first[each] for each in places if each in first]
            yield Trial(defect, way, min(numbers, default=None))


def found(of: Iterable[Trial]) -> Iterator[str]:
    """Yield the lines of the table of plans until the first violation: medians."""
    every = list(of)
    yield "| defect | share of plain plans | defects | " + " | ".join(WAYS) + " |"
    yield "| --- | --- | --- | " + " | ".join("---" for _ in WAYS) + " |"
    for form, band in dict.fromkeys((each.planted.form, each.planted.band) for each in every):
        rows = [each for each in every if (each.planted.form, each.planted.band) == (form, band)]
        number = len({each.planted.defect for each in rows})
        yield f"| {form} | {band} | {number} | " + " | ".join(_cell(rows, way) for way in WAYS) + " |"


def _cell(rows: Sequence[Trial], way: str) -> str:
    mine = [each.first for each in rows if each.way == way]
    missed = sum(each is None for each in mine)
    said = f"{median(each if each is not None else PLANS for each in mine):.0f}"
    return said + (f", {missed / len(mine):.0%} not" if missed else "")


def lost_time(took: Sequence[float], per_round: int, losses: float, rng: random.Random) -> tuple[float, float]:
    """Return the shares of the machines' time that wait for the end of a round, and that go into lost plans."""
    at, useful, lost = 0.0, 0.0, 0.0
    for begin in range(0, len(took), per_round):
        free = [at] * MACHINES
        ends = at
        queue = list(reversed(took[begin : begin + per_round]))
        while queue:
            now, plan = heapq.heappop(free), queue.pop()
            until_loss = rng.expovariate(losses / 3600) if losses else float("inf")
            if until_loss < plan:
                queue.append(plan)
                lost += until_loss + AWAY
                heapq.heappush(free, now + until_loss + AWAY)
            else:
                useful += plan
                ends = max(ends, now + plan)
                heapq.heappush(free, now + plan)
        at = ends
    total = MACHINES * at
    return (total - useful - lost) / total, lost / total


def waste(took: Sequence[float]) -> Iterator[str]:
    """Yield the lines of the table of the machines' time."""
    yield "| plans of a round | " + " | ".join(f"{each:g} losses of a machine in an hour" for each in LOSSES) + " |"
    yield "| --- | " + " | ".join("---" for _ in LOSSES) + " |"
    for per_round in ROUNDS:
        shares = (lost_time(took, per_round, losses, random.Random(1)) for losses in LOSSES)
        cells = (f"{waits:.0%} waits" + (f", {lost:.1%} lost" if lost else "") for waits, lost in shares)
        yield f"| {per_round} | " + " | ".join(cells) + " |"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fleet_model", description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="quorum")
    parser.add_argument("--population", type=int, default=2000, help="Plain plans from which campaigns choose.")
    parser.add_argument("--seeds", type=int, default=5, help="Campaigns of each way.")
    parser.add_argument("--plans", type=int, default=PLANS, help="Plans of a campaign.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help=f"Write the tables into {PAGE.name}.")
    options = parser.parse_args(arguments)
    population = Population.make(options.target, options.population, options.workers)
    planted = list(plant(population.tried, random.Random(1)))
    having = [parts(each) for each in population.tried]
    shows = [{place for place, each in enumerate(having) if defect.defect <= each} for defect in planted]
    every = (each for seed in range(options.seeds) for each in trials(population, planted, shows, seed, options.plans))
    rng = random.Random(1)
    took = [float(rng.choice(population.seconds)) for _ in range(options.plans)]
    lines = [*found(every), "", *waste(took)]
    text = "".join(f"{line}\n" for line in lines)
    print(text, end="")
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.partition(END)[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
