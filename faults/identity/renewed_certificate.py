"""A broker gets another certificate while it runs."""

from __future__ import annotations

import random
import time
from typing import ClassVar

from fencepost.faults.capabilities import Capability, Certificate, Cluster, Evidence, Running
from fencepost.faults.generation import BreakableCluster, GeneratedFault, HealOrder, one_broker
from fencepost.faults.identity.certificate_fault import held_and_shown
from fencepost.faults.parameters import FaultParameters, NodeRef
from fencepost.faults.processes.process_fault import TIMEOUT_S, ProcessFault


class RenewedCertificateParameters(FaultParameters):
    """Another certificate of the same authority, read without a restart. Healed by the first, in the same way."""

    node: NodeRef


class RenewedCertificate(ProcessFault):
    """The broker's key and certificate are replaced, and it is asked to read them, by a setting of its listeners.

    Models the renewal of a certificate in use: connections that are open go on, new ones are shown the new one, and
    the process stays. Does not model nodes that are controllers alone, which read theirs at their start. Healed by the
    first certificate, and by taking the setting away.
    Source: KIP-226, dynamic update of keystores.

    `proven` by a handshake, which shows the new certificate, and by the process table: it is the same process.
    """

    name: ClassVar[str] = "renewed-certificate"
    phrase = "{node} are given another certificate"
    capability: ClassVar[Capability] = Capability.CERTIFICATES
    Parameters = RenewedCertificateParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: RenewedCertificateParameters) -> None:
        super().__init__(cluster, (parameters.node,))
        self.node = parameters.node
        self.own = ""

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim = one_broker(rng, cluster)
        return GeneratedFault(
            parameters=RenewedCertificateParameters(node=aim.text),
            aim=aim,
            heal_order=HealOrder.MACHINES,
            resources=aim.processes(),
            title=f"{aim.text} gets another certificate",
            others_go_on=True,
            exclusive=True,
            needs_running_nodes=True,
        )

    def set_up(self) -> None:
        self.require_running("renew the certificate of")
        self.own = self.cluster.certificates.held(self.node)

    def inject(self) -> None:
        self.cluster.certificates.give(self.node, Certificate.RENEWED)
        self.cluster.certificates.read_anew(self.node)

    def verify(self) -> Evidence:
        if (held := self.cluster.certificates.held(self.node)) == self.own:
            return Evidence.against(
                f"the files of {self.node} hold the certificate of before", held_and_shown(self.cluster, self.node)
            )
        return self._shows(held)

    def recover(self) -> None:
        self.cluster.certificates.give(self.node, Certificate.OWN)
        self.cluster.certificates.forget(self.node)

    def verify_healed(self) -> Evidence:
        return self._shows(self.own)

    def _shows(self, fingerprint: str) -> Evidence:
        """Wait until the node shows this certificate; the process has to be that of before."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            shown, status = self.cluster.certificates.shown(self.node), self.cluster.processes.status(self.node)
            same = (status.pid, status.started) == self.before[self.node] and status.running is Running.RUNNING
            right = shown is not None and (shown.fingerprint, shown.refused) == (fingerprint, None)
            if (right and same) or time.monotonic() > deadline:
                how = "a handshake shows the certificate of its files, and the process is the same"
                missed = f"{self.node} shows another certificate" if same else f"the process of {self.node} is another"
                return Evidence(
                    right and same, how, held_and_shown(self.cluster, self.node), "" if right and same else missed
                )
            time.sleep(0.02)
