"""One run in progress, as the three narrow interfaces that conditions, steps and probes take."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

from fencepost.harness.clients.login import connect
from fencepost.harness.clients.observer import Observer
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.recorded_requests import RequestRecorder
from fencepost.harness.clients.workload import Workload
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.node_logs import NodeLogs
from fencepost.harness.engine.references import References
from fencepost.harness.engine.run_clock import RunClock
from fencepost.harness.model.sent import Checkpoint, Legacy
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.security import access
from fencepost.results.records.journal import JournalWriter


@dataclass(frozen=True)
class Clients:
    """The harness as a client of the cluster: what it observes, what it produces and consumes, and its requests."""

    cluster: Cluster
    observer: Observer
    workload: Workload
    recorder: RequestRecorder

    def connect(self, node: str, listener: Listener, timeout: float, *, login: bool = True) -> RawConnection:
        """Connect through the probe site's link, which no fault breaks. Raise `raw.NoAnswer` if that fails.

        At a listener that asks for a login, log in with `credentials`.
        """
        known = access(listener, self.cluster.installation)
        at = self.cluster.probe_address(node, listener)
        connection = connect(at, timeout, known if login else known._replace(credentials=None))
        connection.node, connection.recorder = node, self.recorder
        return connection


@dataclass
class Context:
    """One run in progress.

    It only holds the parts. A function takes the part that it needs: `references` (roles and values of the plan),
    `clients` (requests, observer, workload), `clock` (instants, deadlines, waiting). Only the functions that tell the
    kinds of steps, conditions and probes apart take the whole. `deadline` is monotonic.
    """

    plan: Plan
    cluster: Cluster
    journal: JournalWriter
    observer: InitVar[Observer]
    workload: InitVar[Workload]
    active_faults: ActiveFaults
    logs: NodeLogs
    deadline: InitVar[float]
    instants: InitVar[dict[str, float] | None] = None
    checkpoints: list[Checkpoint] = field(default_factory=list)
    """The descriptions of all nodes so far."""
    legacy: Legacy = field(default_factory=Legacy)
    """The requests and descriptions of earlier plans on the cluster."""
    clients: Clients = field(init=False)
    clock: RunClock = field(init=False)
    references: References = field(init=False)

    def __post_init__(
        self, observer: Observer, workload: Workload, deadline: float, instants: dict[str, float] | None
    ) -> None:
        self.clients = Clients(self.cluster, observer, workload, self._recorder())
        self.checkpoints.extend(self.legacy.looks)
        instants = {} if instants is None else instants
        self.clock = RunClock(self.plan, self.cluster, self.journal, observer, self.active_faults, deadline, instants)
        file = self.cluster.target.file
        self.references = References(
            self.plan,
            file.dialect,
            observer,
            self.clock,
            file.promises,
            redirects=file.redirects,
            finds_coordinators=file.finds_coordinators,
        )

    def _recorder(self) -> RequestRecorder:
        earlier = {f"inherited-{number}": sent for number, (_, sent) in enumerate(self.legacy.requests)}
        return RequestRecorder(self.journal, earlier)
