"""How long faults take to show and to be gone, and what the way through the links costs.

All of it is measured side by side in one run; nothing here passes or fails. A fault is timed from the order to the
evidence that it works, and from the order to heal to the evidence of that, on the small cluster on which every fault is
tried (`tests/faults/real.py`); the time until evidence is there is mostly the time that a measurement takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from fencepost.faults.capabilities import CapabilityError
from fencepost.faults.registry import build
from fencepost.harness.backends import BACKENDS, check_backend
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import CLIENT_PORT
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.targets import listeners
from tests.bench import measures
from tests.bench.clusters import started
from tests.bench.kept import Kept
from tests.bench.lasted import Lasted
from tests.faults.cases import CASES
from tests.faults.readme import markdown
from tests.faults.real import capability, make_whole, small_cluster, tidy

TARGET = "quorum"
DIRECT, LINKED = "direct", "through the links"


Figures = dict[str, dict[str, Lasted]]
"""By fault, by backend."""


def backends() -> Mapping[str, str | None]:
    """Each with the reason why it cannot be measured here, if there is one."""
    found: dict[str, str | None] = {}
    for name in BACKENDS:
        try:
            check_backend(name)
            found[name] = None
        except InfrastructureError as error:
            found[name] = str(error)
    return found


def measure_faults(
    console: Console, backend: str, times: int, seconds: float, only: Sequence[str], kept: Kept
) -> dict[str, Lasted]:
    """Each fault so often, or for so many seconds if that is less; never less than twice. What is kept is not measured
    again."""
    names = [name for name, case in CASES.items() if backend in case.backends and (not only or name in only)]
    found = {name: lasted for name in names if (lasted := kept.find(backend, name)) is not None}
    if len(found) == len(names):
        return found
    with (
        TemporaryDirectory(prefix="fencepost-bench-") as scratch,
        small_cluster(Path(scratch, "run"), backend) as cluster,
    ):
        for name in names:
            if name not in found:
                reason = unavailable_reason(backend, capability(name))
                found[name] = Lasted(why_not=reason) if reason else _lasted(name, cluster, times, seconds)
                kept.keep(backend, name, found[name])
            console.print(f"  {backend}: {name}", " ".join(found[name].cells()), highlight=False)
    return {name: found[name] for name in names}


def _lasted(name: str, cluster: Cluster, times: int, seconds: float) -> Lasted:
    shown: list[float] = []
    healed: list[float] = []
    begun = time.monotonic()
    while len(shown) < times and (len(shown) < 2 or time.monotonic() - begun < seconds):
        make_whole(cluster)
        fault = build(name, cluster, CASES[name].real)
        try:
            fault.set_up()
            ordered = time.monotonic()
            fault.inject()
            evidence = fault.verify()
            proven = time.monotonic()
            if evidence.proven:
                recovering = time.monotonic()
                fault.recover()
                evidence = fault.verify_healed()
            else:
                fault.recover()
        except (CapabilityError, OSError) as error:  # an engine's refusal is an OSError
            return Lasted(shown, healed, why_not=str(error))
        if not evidence.proven:
            return Lasted(shown, healed, why_not=evidence.how)
        shown.append(proven - ordered)
        healed.append(time.monotonic() - recovering)
        tidy(name, cluster)
    return Lasted(shown, healed)


def measure_links(times: int) -> dict[str, dict[str, float]]:
    """The same cluster with and without a proxy on each connection, in turn: medians."""
    runs: dict[str, list[dict[str, float]]] = {DIRECT: [], LINKED: []}
    for _ in range(times):
        for how, found in runs.items():
            with _past_the_links() if how == DIRECT else _as_ever(), started(TARGET) as cluster:
                p50, p99 = measures.single_latencies(cluster)
                found.append(
                    {
                        "one record acknowledged, p50, ms": p50,
                        "one record acknowledged, p99, ms": p99,
                        "produce 1 KB, acks=all, 3 replicas, MB/s": measures.bulk_throughput(cluster),
                    }
                )
    return {how: {name: median(run[name] for run in found) for name in found[0]} for how, found in runs.items()}


@contextmanager
def _as_ever() -> Iterator[None]:
    yield


@contextmanager
def _past_the_links() -> Iterator[None]:
    """Let names and advertised listeners lead to the nodes themselves, past the proxies."""

    def hosts_of(layout: Layout, node: Node) -> dict[str, str]:
        return {**linked(layout, node), **{peer.name: peer.address for peer in layout.nodes}}

    def advertised(node: Node, layout: Layout) -> str:
        return listeners.listeners(node)

    def bootstrap(layout: Layout, site: str = "") -> str:
        return ",".join(f"{node.address}:{CLIENT_PORT}" for node in layout.brokers)

    linked = Layout.hosts_of
    with (
        patch.object(Layout, "hosts_of", hosts_of),
        patch.object(Layout, "bootstrap", bootstrap),
        patch.object(listeners, "advertised_listeners", advertised),
    ):
        yield


def measure_starts(times: int, names: Sequence[str]) -> dict[str, float]:
    """Seconds from the first process until the cluster of six nodes serves and has a topic, in turn: medians."""
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(times):
        for name, seconds in found.items():
            with started(TARGET, backend=name) as cluster:
                seconds.append(cluster.seconds)
    return {name: median(seconds) for name, seconds in found.items()}


def faults_table(found: Figures) -> str:
    """For people, and for the page in `faults/`."""
    heads = ("fault", "backend", "shown, p50", "p99", "healed, p50", "p99", "times")
    rows = [(f"`{name}`", backend, *lasted.cells()) for name, each in found.items() for backend, lasted in each.items()]
    return markdown(heads, rows)


def links_table(found: Mapping[str, Mapping[str, float]]) -> str:
    rows = [
        (name, f"{direct:.3g}", f"{found[LINKED][name]:.3g}", f"{found[LINKED][name] / direct:.2f}")
        for name, direct in found[DIRECT].items()
    ]
    return markdown(("", DIRECT, LINKED, "ratio"), rows)


def shown(found: Figures) -> Table:
    table = Table(title="faults: from the order to the evidence, milliseconds", title_justify="left")
    for heading in ("fault", "backend", "shown, p50", "p99", "healed, p50", "p99", "times"):
        table.add_column(heading, justify="left" if heading in ("fault", "backend") else "right")
    for name, each in found.items():
        for backend, lasted in each.items():
            table.add_row(name, backend, *lasted.cells())
    return table
