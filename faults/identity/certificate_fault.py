"""The base of the faults that start a node with a certificate that no other node and no client trusts."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import ClassVar

from fencepost.faults.capabilities import Capability, Certificate, Cluster, Evidence, Running
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_broker
from fencepost.faults.identity.misconfigured import MisconfiguredFault, generated_exclusive
from fencepost.faults.parameters import FaultParameters, NodeRef
from fencepost.faults.processes.process_fault import READY_TIMEOUT_S


class CertificateParameters(FaultParameters):
    """The node that is started with another certificate."""

    node: NodeRef


class CertificateFault(MisconfiguredFault):
    """Proven from the files, and by a handshake with the node: a client that trusts the cluster's authority refuses it.

    A node that refuses its own certificate ends by itself, which proves it as well.
    """

    capability: ClassVar[Capability] = Capability.CERTIFICATES
    given: ClassVar[Certificate]
    Parameters: ClassVar[type[CertificateParameters]]

    def __init__(self, cluster: Cluster, parameters: CertificateParameters) -> None:
        super().__init__(cluster, (parameters.node,))
        self.node = parameters.node
        self.own = ""

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """Return one that claims nothing of clients: the node may lead, and neither they nor followers reach it."""
        aim = one_broker(rng, cluster)
        title = f"{aim.text} has a {cls.given.value} certificate"
        fault = generated_exclusive(cls.Parameters(node=aim.text), aim, title)
        return replace(fault, brokers=len(cluster.brokers))

    def set_up(self) -> None:
        super().set_up()
        self.own = self.cluster.certificates.held(self.node)

    def misconfigure(self) -> None:
        self.cluster.certificates.give(self.node, self.given)

    def correct(self) -> None:
        self.cluster.certificates.give(self.node, Certificate.OWN)

    def is_misconfigured(self) -> bool:
        return self.cluster.certificates.held(self.node) != self.own

    def verify(self) -> Evidence:
        started = super().verify()
        deadline = time.monotonic() + READY_TIMEOUT_S
        while started.proven and not self._is_refused():
            if time.monotonic() > deadline:
                return Evidence.against(f"clients do not refuse the certificate of {self.node}", self.claims())
            time.sleep(0.05)
        how = "the files hold a certificate that clients refuse, and the node was started with it"
        return replace(started, how=how, measured={**started.measured, **self.claims()})

    def claims(self) -> Mapping[str, object]:
        return held_and_shown(self.cluster, self.node)

    def _is_refused(self) -> bool:
        shown = self.cluster.certificates.shown(self.node)
        ended = self.cluster.processes.status(self.node).running is Running.EXITED
        return ended if shown is None else shown.refused is not None


def held_and_shown(cluster: Cluster, node: str) -> Mapping[str, object]:
    """Return the certificate in the files of a node, and the one that it shows to clients."""
    shown = cluster.certificates.shown(node)
    return {
        f"{node} holds": cluster.certificates.held(node),
        f"{node} shows": None if shown is None else asdict(shown),
    }
