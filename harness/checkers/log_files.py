"""Each log by itself, from its files: its epochs only grow, its checkpoints lie within it, only its end may be torn.

The logs of all nodes are judged, dead or alive; __cluster_metadata is not, since it follows other rules. The clients'
history does not matter here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.checkpoints import HIGH_WATERMARKS, LEADER_EPOCHS, BadCheckpoint, high_watermarks
from fencepost.harness.checkers.replica_logs import ReplicaLog, Replicas
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

EPOCHS = Check("log-epochs-grow", "A leader epoch goes back within a log", "SEG-03", Basis.PRESENCE)
CHECKPOINTS = Check("checkpoints-within-log", "A checkpoint points beyond its log", "SEG-04", Basis.PRESENCE)
TAILS = Check("torn-tails", "A log is damaged, and not by a kill", "SEG-05", Basis.PRESENCE)


@checker(EPOCHS, rank=54, needs=[Need.LOGS], every_run=True)
def log_epochs_grow(replicas: Replicas) -> Finding:
    """Judge that the leader epochs of the batches of each log only grow. Linear in the batches."""
    logs = replicas.all
    rows: list[tuple[Any, ...]] = []
    batches = judged = 0
    for log in logs:
        batches += len(log.batches)
        judged += max(0, len(log.batches) - 1)
        for before, after in zip(log.batches, log.batches[1:], strict=False):
            if after.leader_epoch < before.leader_epoch:
                rows.append(
                    (log.folder.name, log.name, before.last, before.leader_epoch, after.base, after.leader_epoch)
                )
    if not rows:
        return EPOCHS.held(judged, f"In none of {len(logs)} logs does a leader epoch go back ({batches} batches).")
    name, node, before_offset, before_epoch, offset, epoch = rows[0]
    return EPOCHS.broken(
        batches,
        f"In {name} on {node} epoch {epoch} at offset {offset} follows epoch {before_epoch} at offset {before_offset}.",
        ("partition", "replica", "offset", "epoch", "then offset", "epoch"),
        rows,
        at=None,
    )


@checker(CHECKPOINTS, rank=55, needs=[Need.LOGS], every_run=True)
def checkpoints_within_log(replicas: Replicas, journal: Journal) -> Finding:
    """Judge the checkpoints of all log directories. A high watermark without a log is of a replica that was removed.

    A broker notes the leader epochs of batches before it appends these. A process that was ended in between and not
    started again leaves an epoch beyond its log, which a start would drop (KIP-101, recovery after a crash).
    """
    logs, cut_short = replicas.all, _cut_short(journal)
    by_folder = {log.folder: log for log in logs}
    rows: list[tuple[Any, ...]] = []
    judged = 0
    for node, directories in sorted(replicas.directories.items()):
        for directory in directories:
            try:
                known = high_watermarks(directory)
            except BadCheckpoint as error:
                rows.append((node, HIGH_WATERMARKS, "unreadable", "", str(error)))
                continue
            for (topic, number), offset in sorted(known.items()):
                log = by_folder.get(directory / f"{topic}-{number}")
                if log is not None and not log.damage:
                    judged += 1
                    if offset > log.end:
                        rows.append((log.name, log.folder.name, f"high watermark {offset}", log.end, "beyond the end"))
    for log in logs:
        judged += 1
        wrong = _wrong_epochs(log, may_be_ahead=log.node in cut_short)
        rows += [(log.name, log.folder.name, what, log.end, why) for what, why in wrong]
    if not rows:
        return CHECKPOINTS.held(judged, f"All checkpoints of {len(logs)} logs lie within them ({judged} compared).")
    return CHECKPOINTS.broken(
        judged,
        f"{len(rows)} checkpoints do not lie within their log; the first: {rows[0][2]} of {rows[0][1]} on "
        f"{rows[0][0]}, whose log ends at {rows[0][3]}.",
        ("replica", "partition", "checkpoint", "log end", "wrong"),
        rows,
        at=None,
    )


def _wrong_epochs(log: ReplicaLog, *, may_be_ahead: bool) -> Iterator[tuple[str, str]]:
    if log.epochs is None:
        yield LEADER_EPOCHS, "unreadable"
        return
    for (epoch, start), (next_epoch, next_start) in zip(log.epochs, log.epochs[1:], strict=False):
        if next_epoch <= epoch or next_start < start:
            yield f"epoch {next_epoch} from {next_start}", f"after epoch {epoch} from {start}"
    if log.epochs and not log.damage and not may_be_ahead and log.epochs[-1][1] > log.end:
        yield f"epoch {log.epochs[-1][0]} from {log.epochs[-1][1]}", "beyond the end"


@checker(TAILS, rank=56, needs=[Need.LOGS], every_run=True)
def torn_tails(replicas: Replicas, journal: Journal) -> Finding:
    """Judge that no log is damaged, and that no process that ended by SIGTERM left a torn end."""
    logs, orderly = replicas.all, _ended_orderly(journal)
    torn = [log for log in logs if log.torn and log.node not in orderly]
    rows: list[tuple[Any, ...]] = [(log.folder.name, log.name, str(log.damage)) for log in logs if log.damage]
    rows += [
        (log.folder.name, log.name, f"{log.torn}, although the process shut down orderly")
        for log in logs
        if log.torn and log.node in orderly
    ]
    tails = {f"{log.name} {log.folder.name}": log.torn.bytes_left for log in torn if log.torn}
    if rows:
        return TAILS.broken(
            len(logs),
            f"{len(rows)} logs are damaged; the first: {rows[0][2]} (on {rows[0][1]}).",
            ("partition", "replica", "damage"),
            rows,
            at=None,
            torn=tails,
        )
    ends = f"{len(torn)} ends torn by kill -9, as they may be" if torn else "no end is torn"
    return TAILS.held(len(logs), f"None of {len(logs)} logs is damaged; {ends}.", torn=tails)


def _ended_orderly(journal: Journal) -> frozenset[str]:
    """Return the nodes whose last process ended by itself, with exit code 0. A run ends its nodes by kill -9."""
    return frozenset(
        node
        for node, event in _last_events(journal).items()
        if event.phase in ("stopped", "exited") and event.data.get("exit_code") == 0
    )


def _cut_short(journal: Journal) -> frozenset[str]:
    """Return the nodes whose last process ended before the run did, and not orderly."""
    ended = {node for node, event in _last_events(journal).items() if event.phase in ("killed", "stopped", "exited")}
    return frozenset(ended - _ended_orderly(journal))


def _last_events(journal: Journal) -> Mapping[str, Event]:
    return {event.node: event for event in journal.of("node") if event.node}
