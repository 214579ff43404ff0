"""Plans until the first violation of planted defects, with learning and without.

A model of a campaign, without clusters. A planted defect is a combination of fault, role, state and clients, and shows
in the first plan that tries it: the planner is the real one, the cluster is perfect evidence. Two more kinds of defects
are not of the form that the planner counts: two combinations of fault and role in one plan, in any order.

- `without`: the plans of the seed.
- `first night`: learns from an empty store, so only from its own plans.
- `later`: learns from 200 plans that passed.
- `regression`: the same, and one plan in the store failed by this defect, on an earlier build. Of some defects.

`python -m tests.bench.learning --target quorum` prints the table; `--write` puts it into docs/campaigns.md.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations as pairs_of
from multiprocessing import Pool
from pathlib import Path
from statistics import median

from fencepost.harness.campaign.campaign import NOT_TWICE
from fencepost.harness.campaign.combinations import Combination, parts, tried
from fencepost.harness.campaign.features import draw
from fencepost.harness.campaign.guidance import Failure, Guidance, counted
from fencepost.harness.campaign.guided import VARIANTS, GuidedPlans, seconds
from fencepost.harness.campaign.planner import Draw, generate
from fencepost.harness.plan.model import Plan

PAGE = Path(__file__).resolve().parents[2] / "docs" / "campaigns.md"
BEGIN, END = "<!-- tests.bench.learning -->\n", "<!-- end -->\n"
SAMPLE, HISTORY = 1000, 200
"""Plans from which defects are taken, and plans of the store."""
BANDS = ((0.05, 0.20), (0.01, 0.05), (0.002, 0.01))
"""Shares of plain plans that try a defect."""
EACH, REGRESSIONS = 12, 1
"""Defects of each band and form; of these so many are tried as regressions."""
WAYS = ("without", "first night", "later", "regression")

Defect = frozenset[Combination]
"""The combinations that a plan has to try together, 1 or 2."""


@dataclass(frozen=True)
class Planted:
    """A defect, its form and band in words, and a plan of the sample that shows it."""

    defect: Defect
    form: str
    band: str
    shown_by: frozenset[Combination]
    regression: bool


@dataclass(frozen=True)
class Trial:
    """The cost of finding one defect in one campaign: plans, and about how many seconds these take one by one."""

    planted: Planted
    way: str
    plans: int
    seconds: float
    found: bool
    """False: not in all plans of the campaign."""


def sample(target: str, seed: int, plans: int) -> list[frozenset[Combination]]:
    """Return what so many plain plans of a seed try."""
    return [tried(generate(target, "process", seed * NOT_TWICE + number)) for number in range(1, plans + 1)]


def plant(plans: Sequence[frozenset[Combination]], rng: random.Random) -> Iterator[Planted]:
    """Yield defects that a known share of the plans shows."""
    having = Counter(defect for plan in plans for defect in _defects(plan))
    for form in ("1 factor", "2 factors", "3 factors", "4 factors", "2 events"):
        for low, high in BANDS:
            found = sorted(
                (
                    each
                    for each, times in having.items()
                    if low * len(plans) <= times < high * len(plans) and _form(each) == form
                ),
                key=lambda each: sorted(map(str, each)),
            )
            for place, defect in enumerate(rng.sample(found, min(EACH, len(found)))):
                shown_by = next(plan for plan in plans if defect <= parts(plan))
                band = f"{low:.1%} to {high:.0%}".replace(".0%", "%")
                yield Planted(defect, form, band, shown_by, place < REGRESSIONS)


def _defects(plan: frozenset[Combination]) -> Iterator[Defect]:
    found = parts(plan)
    yield from (frozenset({each}) for each in found)
    hits = sorted(each for each in found if each.factors == 2 and each.role != "*" and not each.kind.startswith("ask"))
    yield from (frozenset({one, other}) for one, other in pairs_of(hits, 2) if one.kind != other.kind)


def _form(defect: Defect) -> str:
    if len(defect) > 1:
        return "2 events"
    (only,) = defect
    return f"{only.factors} factor" + ("s" if only.factors > 1 else "")


def campaign(arguments: tuple[str, int, int, int, Mapping[Combination, int], Sequence[Planted]]) -> list[Trial]:
    """Return the trials of all defects in the campaigns of one seed."""
    target, seed, plans, variants, history, planted = arguments
    make = cache(partial(generate, target, "process"))
    seeds = [seed * NOT_TWICE + number for number in range(1, plans + 1)]

    def cached(seed: int, variant: int, choose: Draw) -> Plan:
        return make(seed, variant, choose) if choose is draw else generate(target, "process", seed, variant, choose)

    def learning(counts: Mapping[Combination, int], *failures: Failure) -> Iterator[Plan]:
        guidance = Guidance(target, "", HISTORY if counts else 0, counts, failures)
        return (each.plan for each in GuidedPlans(cached, guidance, variants).choices(seeds))

    found = list[Trial]()
    series = {
        "without": (make(each, 0, draw) for each in seeds),
        "first night": learning({}),
        "later": learning(history),
    }
    for way, made in series.items():
        costs = [_cost(plan) for plan in made]
        found += [_first(each, way, costs) for each in planted]
    for each in planted:
        if each.regression:
            with_failure = learning(history, Failure("s", "run", each.shown_by))
            found.append(_first(each, "regression", map(_cost, with_failure)))
    return found


def _cost(plan: Plan) -> tuple[frozenset[Combination], float]:
    return parts(tried(plan)), seconds(plan)


def _first(planted: Planted, way: str, plans: Iterable[tuple[frozenset[Combination], float]]) -> Trial:
    number, spent = 0, 0.0
    for number, (has, cost) in enumerate(plans, 1):
        spent += cost
        if planted.defect <= has:
            return Trial(planted, way, number, spent, True)
    return Trial(planted, way, number, spent, False)


def table(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield the lines of the table: medians of plans and minutes, and the share that was not found."""
    yield "| defect | share of plain plans | defects | " + " | ".join(WAYS) + " |"
    yield "| --- | --- | --- | " + " | ".join("---" for _ in WAYS) + " |"
    kinds = dict.fromkeys((each.planted.form, each.planted.band) for each in trials)
    for form, band in [*kinds, ("all", "")]:
        rows = [each for each in trials if form == "all" or (each.planted.form, each.planted.band) == (form, band)]
        number = len({each.planted.defect for each in rows})
        yield f"| {form} | {band} | {number} | " + " | ".join(_cell(rows, way) for way in WAYS) + " |"


def _cell(trials: Sequence[Trial], way: str) -> str:
    mine = [each for each in trials if each.way == way]
    if not mine:
        return ""
    missed = sum(not each.found for each in mine) / len(mine)
    said = f"{median(each.plans for each in mine):.0f} plans, {median(each.seconds for each in mine) / 60:.0f} min"
    return said + (f", {missed:.0%} not" if missed else "")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.learning", description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="quorum")
    parser.add_argument("--seeds", type=int, default=20, help="Campaigns of each way.")
    parser.add_argument("--plans", type=int, default=80, help="Plans of a campaign, at most.")
    parser.add_argument("--variants", type=int, default=VARIANTS, help="Variants from which a plan is chosen.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help=f"Write the table into {PAGE.name}.")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    planted = list(plant(sample(options.target, 9001, SAMPLE), random.Random(1)))
    history = counted(sample(options.target, 9002, HISTORY))
    orders = [
        (options.target, seed, options.plans, options.variants, history, planted)
        for seed in range(1, options.seeds + 1)
    ]
    trials = list[Trial]()
    with Pool(options.workers) as pool:
        for done, found in enumerate(pool.imap_unordered(campaign, orders), 1):
            trials += found
            print(f"{done} of {options.seeds} seeds, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    lines = [f"{line}\n" for line in table(trials)]
    print("".join(lines), end="")
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + "".join(lines) + "\n" + END + rest.partition(END)[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
