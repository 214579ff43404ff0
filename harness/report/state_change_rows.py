"""Tables of state changes: the course of each request, the counters of brokers, the watches in ZooKeeper."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fencepost.harness.report.state_changes import StateChangeRequest, StateChanges
from fencepost.results.records.journal import Journal

MOST = 60
"""Completed requests to show. All others are always shown."""
_STYLES = {"completed": "pass", "ignored": "unjudged", "failed": "violation"}


def state_change_rows(state_changes: StateChanges) -> Mapping[str, Any]:
    """Return `rows` in the order of their begin, the number `omitted`, and a `summary` for the heading."""
    completed = [request for request in state_changes.requests if request.how == "completed"]
    hidden = {id(request) for request in completed[MOST:]}
    outcomes = Counter(request.outcome for request in state_changes.requests)
    return {
        "rows": [_row(request) for request in state_changes.requests if id(request) not in hidden],
        "omitted": len(hidden),
        "summary": ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()),
    }


def broker_rows(state_changes: StateChanges) -> list[dict[str, Any]]:
    """Return a row of counters for each broker; nothing if nodes write no metrics."""
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
        for node, figures in state_changes.figures.items()
    ]


def watch_rows(journal: Journal) -> list[dict[str, Any]]:
    """Return a row for each step that counted watches."""
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


def _row(request: StateChangeRequest) -> dict[str, Any]:
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
