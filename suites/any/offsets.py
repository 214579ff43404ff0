"""Offsets that clients ask for by time."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

TOPIC = "timed"
TIMES = (1_000_000_000_000, 1_000_000_060_000, 1_000_000_120_000)
"""The timestamps of three records, in milliseconds, a minute apart, in September 2001."""
NONE = -1
LEADER = f"leader:{TOPIC}-0"


@v.any_scenario(
    "any-offsets-by-time", "An offset by time is that of the first record at that time or later", seconds=10
)
def by_time(draft: v.Draft) -> v.Plan:
    """Ask for the time of a record, for one between two records, and for one after the last."""
    first, second, third = TIMES
    asked = {"first": (first, 0), "between": (first + 1, 1), "second": (second, 1), "third": (third, 2)}
    steps: list[v.Step] = [
        *(
            v.produced(f"record-{offset}", LEADER, TOPIC, [{"value": f"r-{offset}", "timestamp": timestamp}])
            for offset, timestamp in enumerate(TIMES)
        ),
        *(_listed(f"at-{name}", timestamp, offset) for name, (timestamp, offset) in asked.items()),
        _listed("after-all", third + 1, NONE),
        _listed("begin", v.FIRST, 0),
        _listed("end", v.END, len(TIMES)),
    ]
    topics = [v.promised_topic(draft.target, draft.roles), v.promised_topic(draft.target, draft.roles, name=TOPIC)]
    return draft.plan(steps, "whole", topics=topics)


def _listed(as_: str, timestamp: int, offset: int) -> v.Step:
    answer = {f"{v.LISTED}.offset": offset}
    return v.listed(as_, LEADER, TOPIC, timestamp, version=2, epoch=None, answer=answer, expect=v.serves("ADM-03"))
