"""A run invented for tests of the report: a refused duplicate keeps a broker in the ISR, and 220 records are lost."""

from collections.abc import Mapping

from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

LOST = 220


def lost_plan() -> Plan:
    controllers = [{"name": f"node-{n}", "id": n, "index": n, "roles": ["controller"]} for n in (1, 2, 3)]
    brokers = [{"name": f"node-{n}", "id": n, "index": n, "roles": ["broker"]} for n in (4, 5, 6)]
    duplicate = {
        "name": "node-4b",
        "id": 4,
        "index": 14,
        "roles": ["broker"],
        "start": "later",
        "duplicate_of": "node-4",
    }
    return plan(
        scenario="refused-duplicate",
        title="A refused duplicate must not count as a replica",
        seed=7,
        target="apache-kafka:4.3.1",
        requirements=["ACK-01", "ISR-07", "K631-41"],
        topology={"nodes": [*controllers, *brokers, duplicate]},
        topics=[{"name": "u", "assignments": [[6, 4]], "config": {"min.insync.replicas": "2"}}],
        workload={"producers": [{"name": "p", "topic": "u"}], "consumers": [{"name": "c", "topic": "u"}]},
        steps=[
            {"do": "workload", "action": "start"},
            {"do": "inject", "as": "duplicate", "fault": "duplicate", "node": "node-4b"},
            {"do": "inject", "as": "cut", "fault": "cut", "from": "node-4", "to": "node-6"},
            {"do": "produce", "as": "during", "topic": "u", "records": LOST},
            {"do": "inject", "as": "leader-dies", "fault": "kill", "nodes": "node-6"},
            {"do": "await", "as": "healed", "condition": "converged", "within_ms": 5000},
        ],
        coverage=[{"that": "proven", "fault": "cut"}, {"that": "acknowledged", "by": "during", "at_least": LOST}],
    )


def lost_journal() -> Journal:
    builder = JournalBuilder().event("run", "r", "begin")
    for n in (1, 2, 3):
        builder.event("node", f"node-{n}", "started", {"pid": n}, f"node-{n}")
    for n in (4, 5, 6):
        builder.event("node", f"node-{n}", "started", {"pid": n}, f"node-{n}")
    for n in (1, 2, 3):
        _answers(builder, f"node-{n}", n, "serving" if n == 2 else "standby")
        builder.event("node", f"node-{n}", "ready", None, f"node-{n}")
        builder.controller(2, 2, seen_by=f"node-{n}")
    for n in (4, 5, 6):
        _broker(builder, n, "active", 8 + n)
        _answers(builder, f"node-{n}", n, "serving")
        builder.event("node", f"node-{n}", "ready", None, f"node-{n}")
    builder.partition(6, 1, [6, 4], topic="u", seen_by="node-6", replicas=[6, 4])
    builder.event("step", "step-01", "begin").event("step", "step-01", "end", {"outcome": "done"})
    _send(builder, "p", 0, 100, 4.0, 0.02)
    builder.poll(*((n, f"p-{n}") for n in range(100)), topic="u").at(6.5)
    _inject(builder, "duplicate", "duplicate", {"params": {"node": "node-4b"}}, "it runs")
    builder.event("node", "node-4b", "started", {"pid": 99}, "node-4b")
    _answers(builder, "node-4b", 4, "closed")
    builder.at(12.0)
    link = {"from": "node-4", "to": "node-6", "held": "cut"}
    cut = {"params": {"from": ["node-4"], "to": ["node-6"]}, "links": [link]}
    _inject(builder, "cut", "cut", cut, "a round trip from node-4 to node-6 was refused")
    builder.at(13.0).event("step", "during", "begin")
    _send(builder, "during", 100, LOST, 13.2, 0.026)
    builder.event("step", "during", "end", {"outcome": "done"}).at(19.4)
    builder.event("fault", "duplicate", "recovering").event("node", "node-4b", "killed", None, "node-4b")
    builder.event("fault", "duplicate", "healed", {"how": "it is gone"})
    _inject(builder, "leader-dies", "kill", {"params": {"nodes": ["node-6"]}}, "the process table: it is gone")
    builder.event("node", "node-6", "killed", None, "node-6")
    _answers(builder, "node-6", 6, "closed")
    _broker(builder, 6, "fenced", 14)
    builder.at(20.6).partition(4, 2, [4], topic="u", seen_by="node-4", replicas=[6, 4]).at(22.0)
    builder.event("fault", "leader-dies", "recovering").event("node", "node-6", "started", {"pid": 66}, "node-6")
    builder.event("fault", "leader-dies", "healed", {"how": "it answers"})
    builder.event("fault", "cut", "recovering").at(23.0).event(
        "fault", "cut", "healed", {"how": "a round trip came back"}
    )
    _answers(builder, "node-6", 6, "serving")
    _broker(builder, 6, "active", 15)
    builder.event("step", "healed", "begin").at(24.5).partition(
        4, 2, [4, 6], topic="u", seen_by="node-4", replicas=[6, 4]
    )
    builder.event("step", "healed", "end", {"outcome": "done"}).at(28.0)
    builder.final(*((n, f"p-{n}") for n in range(100)), topic="u")
    return builder.at(30.0).event("run", "r", "end").journal()


def _send(builder: JournalBuilder, process: str, base: int, count: int, at: float, every: float) -> None:
    """Sends that are answered at once, `every` seconds one."""
    for n in range(count):
        builder.t = at + n * every - 0.1
        builder.send(f"{process}-{n}", base + n, topic="u", process=process, idempotent=False)
        builder.t = at + (n + 1) * every


def _inject(builder: JournalBuilder, name: str, fault: str, targets: Mapping[str, object], how: str) -> None:
    builder.event("step", name, "begin").event("fault", name, "intent", {"fault": fault, **targets})
    builder.event("fault", name, "injected").event("fault", name, "proven", {"how": how, "measured": {}})
    builder.event("step", name, "end", {"outcome": "done"})


def _answers(builder: JournalBuilder, node: str, id: int, state: str) -> None:
    builder.event("state", node, "seen", {"what": "answer", "id": id, "state": state}, node)


def _broker(builder: JournalBuilder, id: int, state: str, epoch: int) -> None:
    data = {"what": "broker", "node": f"node-{id}", "id": id, "state": state, "epoch": epoch}
    builder.event("state", "log", "seen", data)
