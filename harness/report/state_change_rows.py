"""Tables of state changes: the life of each request, what each broker counted, the watches in ZooKeeper."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from harness.report.state_changes import Request, StateChanges
from results.records.journal import Journal

MOST = 60
"""Completed requests that are shown; all others always are."""
_STYLES = {"completed": "pass", "ignored": "unjudged", "failed": "violation"}


def state_change_rows(told: StateChanges) -> Mapping[str, Any]:
    """`rows` by their begin; `summary` for a heading."""
    completed = [request for request in told.requests if request.how == "completed"]
    hidden = {id(request) for request in completed[MOST:]}
    outcomes = Counter(request.outcome for request in told.requests)
    return {
        "rows": [_row(request) for request in told.requests if id(request) not in hidden],
        "omitted": len(hidden),
        "summary": ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()),
    }


def broker_rows(told: StateChanges) -> list[dict[str, Any]]:
    """Nothing where nodes write no metrics."""
    return [
        {
            "broker": node,
            **{stage: _both(figures, stage) for stage in ("requested", "received", "completed", "ignored", "failed")},
            "own queue": figures.get("own_queue", ""),
            "last seen in queues": ", ".join(f"{to}: {n}" for to, n in figures.get("queue_backlog", {}).items()) or "—",
            "queue full": figures.get("queue_full", ""),
            "leader changes seen": figures.get("leader_changes_seen", ""),
            "leads": figures.get("leading", ""),
            "follows": figures.get("following", ""),
            "ZooKeeper operations": figures.get("zookeeper_operations", ""),
        }
        for node, figures in told.figures.items()
    ]


def watch_rows(journal: Journal) -> list[dict[str, Any]]:
    """A row for each step that counted watches."""
    rows = []
    for event in journal.of("step", "end"):
        counts = event.data.get("watches")
        if isinstance(counts, Mapping):
            others = ", ".join(f"{path} × {count}" for path, count in counts.get("others", {}).items())
            rows.append(
                {
                    "step": event.id,
                    "at": f"{event.t:.2f} s",
                    **{kind: counts.get(kind, "") for kind in ("leader", "other", "children", "any")},
                    "sessions": ", ".join(str(count) for count in counts.get("sessions", {}).values()),
                    "others": others,
                }
            )
    return rows


def _row(request: Request) -> dict[str, Any]:
    by = "" if request.by is None else f" by {'admin' if request.leader < 0 else 'leader'} {request.by}"
    ended = f" at {request.ended:.2f} s" if request.ended is not None else ""
    remark = f" ({request.remark})" if request.remark else ""
    whole = request.requested is not None and request.ended is not None
    return {
        "change": request.change,
        "partition": request.partition,
        "to": request.to,
        "epoch": request.epoch,
        "requested": "not logged" if request.requested is None else f"{request.requested:.2f} s{by}",
        "received": "" if request.received is None else f"{request.received:.2f} s",
        "outcome": f"{request.outcome}{ended}{remark}",
        "style": _STYLES.get(request.outcome, "inconclusive"),
        "took": f"{1000 * ((request.ended or 0) - (request.requested or 0)):.0f} ms" if whole else "",
    }


def _both(figures: Mapping[str, Any], stage: str) -> str:
    counts = figures.get("state_changes", {}).get(stage, {})
    return f"{counts.get('start-replica', 0)} + {counts.get('close-replica', 0)}"
