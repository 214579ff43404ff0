"""The page `docs/mutation.md`, made from the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutants.catalogue import DEFECTS
from tests.mutation.campaigns_page import campaigns_alone
from tests.mutation.markdown import table
from tests.mutation.record import CampaignTrial, CleanPlans, Outcome, Stage, Trial
from tests.mutation.standing import Standing, share
from tests.mutation.survivors import ALARM_ROOTS, UNSEEN_BECAUSE

PAGE = Path(__file__).parents[2] / "docs" / "mutation.md"
NOT_RUN = "not run yet"
GOAL = 1000
ISSUES = "https://issues.apache.org/jira/browse/"

HEAD = """# Does it see what is broken?

This page is written by `make mutation`, from the record `tests/mutation/trials.jsonl`. Each defect of
`tests/mutants` is planted into the reference cluster and tried: by its unit test; by the scenarios that ask a rule
which it breaks, then by all others; and, where no scenario catches it, by a campaign of ten minutes. Caught means the
verdict violation, and nothing less. A row that has not been run to its end says so. What campaigns find without any
scenario is measured apart.
"""


def write(
    rows: Sequence[Standing], clean: Sequence[CleanPlans], campaigns: Sequence[CampaignTrial], page: Path = PAGE
) -> None:
    page.write_text("\n".join(_lines(rows, clean, campaigns)) + "\n", "utf-8")


def _lines(rows: Sequence[Standing], clean: Sequence[CleanPlans], campaigns: Sequence[CampaignTrial]) -> Iterator[str]:
    yield HEAD
    yield from table(("", "number"), ([text, str(number)] for text, number in share(rows)))
    yield "\n## Defects\n"
    yield from table(
        ("defect", "in Kafka", "design", "unit test", "scenario", "campaign"),
        (
            [
                f"[{row.defect.name}](../tests/mutants/{row.defect.name}.py)",
                _issue(row.defect.kafka),
                row.design,
                _unit(row),
                _scenario(row),
                _campaign(row),
            ]
            for row in rows
        ),
    )
    yield "\n## Survivors\n"
    survivors: dict[str, list[str]] = {}
    for row in rows:
        if row.survived or row.withstood:
            survivors.setdefault(row.defect.name, []).append(row.design)
    if not survivors:
        yield "None of those that were run that far."
    for name, designs in survivors.items():
        why = UNSEEN_BECAUSE.get(name, "Not explained yet")
        yield f"- **{name}** on {', '.join(designs)}: {DEFECTS[name].text} {why}."
    yield "\n## Campaigns alone\n"
    yield from campaigns_alone(campaigns)
    yield "\n## False alarms\n"
    yield from _clean(clean)


def _clean(clean: Sequence[CleanPlans]) -> Iterator[str]:
    plans, alarms = sum(each.plans for each in clean), [alarm for each in clean for alarm in each.alarms]
    yield (
        f"Random plans on healthy clusters (`make mutation ARGS='clean'`): **{plans} of {GOAL} plans** have been run, "
        f"with {len(alarms)} violation{'s'[: len(alarms) != 1]}. Each is a false alarm, or a defect of the reference "
        "cluster.\n"
    )
    targets = dict.fromkeys(each.target for each in clean)
    yield from table(
        ("target", "plans", "pass", "violation", "infrastructure", "inconclusive"),
        (
            [
                target,
                *(
                    str(sum(number(each) for each in clean if each.target == target))
                    for number in (
                        lambda each: each.plans,
                        lambda each: each.passed,
                        lambda each: len(each.alarms),
                        lambda each: each.infrastructure,
                        lambda each: each.inconclusive,
                    )
                ),
            ]
            for target in targets
        ),
    )
    for each in clean:
        for alarm in each.alarms:
            root = ALARM_ROOTS.get(alarm.partition(":")[0], "Not followed to its root yet.")
            yield f"\n- {each.target}, {alarm} {root}"


def _unit(row: Standing) -> str:
    trials = row.of(Stage.UNIT)
    if not trials:
        return NOT_RUN
    if (caught := row.caught(Stage.UNIT)) is not None:
        path, _, test = caught.how.partition("::")
        return f"[{test.partition('[')[0] or 'yes'}](../{path})"
    return "no" if trials[-1].outcome is Outcome.MISSED else "nothing said"


def _scenario(row: Standing) -> str:
    if (caught := row.caught(Stage.ASKED, Stage.REST)) is not None:
        return f"`{caught.how}`: {_rules(caught)}"
    tried = [each for each in row.of(Stage.ASKED, Stage.REST) if each.outcome is Outcome.MISSED]
    left = len(row.left(Stage.ASKED)) + len(row.left(Stage.REST))
    if not tried:
        return NOT_RUN
    if row.caught(Stage.CAMPAIGN) is not None or not left:
        return f"no, of {len(tried)}"
    return f"no, of {len(tried)}; {left} {NOT_RUN}"


def _campaign(row: Standing) -> str:
    if (caught := row.caught(Stage.CAMPAIGN)) is not None:
        return f"{caught.how}, plan {caught.plans}: {_rules(caught)}"
    if row.caught(Stage.ASKED, Stage.REST) is not None:
        return ""
    tried = [each for each in row.of(Stage.CAMPAIGN) if each.outcome is Outcome.MISSED]
    return f"no, in {tried[-1].plans} plans" if tried else NOT_RUN


def _rules(trial: Trial) -> str:
    return ", ".join(trial.rules)


def _issue(kafka: str) -> str:
    if kafka.startswith("KAFKA-"):
        return f"[{kafka}]({ISSUES}{kafka})"
    return kafka
