"""Transactions: atomic, aborted ones unread, the ends of partitions stable in the end, zombies fenced.

Only a commit that was asked for can have happened: a transaction without one is aborted, and so is one whose producer
another producer of its transactional id had fenced before. An acknowledged commit has happened; any other may have, but
then all of it (Kafka's documentation, Transactional delivery; KIP-98). Without an acknowledged commit nothing is judged
to hold: no transaction need have happened.
"""

from collections import defaultdict
from collections.abc import Mapping

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.history import History, Send, SendOutcome
from fencepost.results.records.verdict import Basis, Finding

ATOMIC = Check("transaction-atomic", "A transaction is there in part", "TXN-01", Basis.ABSENCE)
ABORTED = Check("aborted-transaction", "A record of an aborted transaction was read", "TXN-02", Basis.PRESENCE)
STABLE = Check("last-stable-offset", "The last stable offset does not move", "TXN-03", Basis.ABSENCE)
FENCED = Check("fenced-producer", "A fenced producer was acknowledged", "TXN-04", Basis.PRESENCE)

CLEANUP_SECONDS = 15.0
"""The time after its timeout within which the coordinator has aborted a transaction: it looks every ten seconds."""


@checker(
    ATOMIC, rank=40, needs=[Need.TRANSACTIONS], every_run=True, rests_on=["op:end-transaction", "op:final", "op:send"]
)
def transaction_atomic(history: History) -> Finding:
    """Judge the transactions whose commit was asked for, and whose partitions were read to their ends. Linear."""
    rows, judged = [], 0
    for name, sends in _records(history).items():
        if name not in history.transactions.commits:
            continue
        kept = {send.value: _kept(history, send) for send in sends}
        if None in kept.values():
            continue
        judged += 1
        missing = [value for value, is_there in kept.items() if not is_there]
        if missing and len(missing) < len(kept):
            ending = history.transactions.commits[name]
            answer = "unknown" if ending.completed is None else f"acknowledged {ending.completed:.2f} s"
            rows.append((name, ending.process, f"{ending.invoked:.2f} s", answer, len(kept), ", ".join(missing)))
    if not rows:
        message = f"Each of {judged} transactions that may have happened is there whole or not at all."
        return ATOMIC.held(judged if history.transactions.committed else 0, message)
    first = min(history.transactions.commits[str(row[0])].invoked for row in rows)
    columns = ("transaction", "producer", "commit asked", "answer", "records", "missing")
    return ATOMIC.broken(judged, f"{len(rows)} transactions are there in part at the end.", columns, rows, at=first)


@checker(ABORTED, rank=41, needs=[Need.TRANSACTIONS], every_run=True, rests_on=["op:send"])
def aborted_transaction(history: History) -> Finding:
    """Judge that no consumer at read_committed read a record of an aborted transaction. Linear in sends and reads."""
    aborted = {send.value: send for send in history.sends if _is_aborted(history, send)}
    judged = sum(map(history.was_read, aborted.values()))
    rows, times = [], []
    for poll in history.polls:
        for read in () if poll.uncommitted else poll.records:
            if send := aborted.get(read.value):
                place = f"{read.at[0]}-{read.at[1]}"
                why = _why(history, send.transaction or "")
                rows.append((place, read.offset, read.value, send.transaction, why, f"{poll.t:.2f} s", poll.process))
                times.append(poll.t)
    if not rows:
        message = f"None of {judged} records of aborted transactions was read, of {len(aborted)} in all."
        return ABORTED.held(judged, message)
    return ABORTED.broken(
        len(aborted),
        f"Records of aborted transactions were read at read_committed, {len(rows)} times.",
        ("partition", "offset", "record", "transaction", "aborted", "read", "by"),
        rows,
        at=min(times),
    )


@checker(
    STABLE, rank=42, needs=[Need.TRANSACTIONS], every_run=True, rests_on=["op:end-transaction", "op:final", "op:send"]
)
def last_stable_offset(history: History) -> Finding:
    """Judge that the final read got past every transaction, once all must have ended."""
    partitions = {(send.topic, send.partition) for send in history.sends if send.transaction is not None}
    sessions = history.transactions.sessions
    ended = max((each.invoked for each in history.transactions.endings), default=0.0)
    last = max((send.invoked for send in history.sends if send.transaction is not None), default=0.0)
    owed_at = max(ended, last) + max((each.timeout for each in sessions), default=0.0) + CLEANUP_SECONDS
    if not history.unstable:
        passed = partitions & set(history.final) if history.transactions.committed else set()
        return STABLE.held(len(passed), f"The final read passed all transactions of {len(passed)} partitions.")
    rows = [(f"{topic}-{number}", *offsets) for (topic, number), offsets in sorted(history.unstable.items())]
    names = ", ".join(str(row[0]) for row in rows)
    if history.read_until < owed_at:
        return STABLE.unjudged(
            f"The last stable offset of {names} is below its end; it may move until {owed_at:.1f} s."
        )
    return STABLE.broken(
        len(partitions),
        f"The last stable offset of {names} stays below the high watermark, though no transaction can be open.",
        ("partition", "last stable offset", "high watermark"),
        rows,
        at=history.read_until,
    )


@checker(FENCED, rank=43, needs=[Need.TRANSACTIONS], every_run=True, rests_on=["op:init-transactions"])
def fenced_producer(history: History) -> Finding:
    """Judge what producers sent and committed after another one of their transactional id had fenced them. Linear."""
    judged, rows, times = 0, [], []
    asked = [
        (f"record {send.value}", send.process, send.invoked, send.outcome is SendOutcome.OK)
        for send in history.sends
        if send.transaction is not None
    ]
    asked += [
        (f"commit of {each.transaction}", each.process, each.invoked, each.completed is not None)
        for each in history.transactions.commits.values()
    ]
    for what, process, t, acknowledged in asked:
        if fence := history.transactions.fenced(process, t):
            judged += 1
            if acknowledged:
                rows.append((what, process, f"{t:.2f} s", fence.process, f"{fence.completed:.2f} s"))
                times.append(t)
    sessions = len(history.transactions.sessions)
    if not rows:
        message = f"None of {judged} requests of fenced producers was acknowledged ({sessions} sessions)."
        return FENCED.held(judged, message, sessions=sessions)
    return FENCED.broken(
        judged,
        f"{len(rows)} requests of fenced producers were acknowledged.",
        ("request", "producer", "sent", "fenced by", "at"),
        rows,
        at=min(times),
    )


def _records(history: History) -> Mapping[str, list[Send]]:
    transactions: dict[str, list[Send]] = defaultdict(list)
    for send in history.sends:
        if send.transaction is not None:
            transactions[send.transaction].append(send)
    return transactions


def _kept(history: History, send: Send) -> bool | None:
    """Return whether the record is there at the end; None if that is unknown."""
    at = (send.topic, -1 if send.partition is None else send.partition)
    return None if at in history.deleted else history.kept(at, send.value)


def _is_aborted(history: History, send: Send) -> bool:
    return send.transaction is not None and bool(_why(history, send.transaction))


def _why(history: History, transaction: str) -> str:
    """Return why a transaction is aborted for certain; empty if it may have happened."""
    commit = history.transactions.commits.get(transaction)
    if commit is None:
        return "no commit was asked for"
    fence = history.transactions.fenced(commit.process, commit.invoked)
    return f"fenced by {fence.process} before its commit" if fence else ""
