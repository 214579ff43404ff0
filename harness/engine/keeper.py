"""Keeps account of faults: intent before anything breaks, proof after, and healing of all that is left.

Two faults on one link, or on one process, are refused: healing the first would heal the second unseen. A pause may
follow a kill's restart; what is healed is free again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from faults.capabilities import CapabilityError, Evidence
from faults.fault import Fault
from harness.errors import LinksLost
from results.records.events import Event
from results.records.journal import JournalWriter


class FaultError(Exception):
    """A fault could not be proven, or not be healed; nothing that follows means anything."""


class FaultKeeper:
    """All faults of a run, in the order in which they were injected."""

    def __init__(self, journal: JournalWriter, instants: dict[str, float] | None = None) -> None:
        """`instants` is told when each fault was injected, proven and healed: `cut.proven`, in the journal's time."""
        self._journal = journal
        self._instants = {} if instants is None else instants
        self._active: dict[str, Fault] = {}
        self.lost: LinksLost | None = None
        """Why nothing can be said of links any more. Then faults raise it, and what is left is undone in a hurry."""

    @property
    def active(self) -> Mapping[str, Fault]:
        """What was injected and is not healed, by name."""
        return dict(self._active)

    def inject(
        self, name: str, fault: Fault, params: Mapping[str, Any], moment: Callable[[], None] = lambda: None
    ) -> Event:
        """Inject and prove; gives the `proven` event. FaultError if it cannot be done or shows no effect, LinksLost if
        that is for want of a Toxiproxy.

        `moment` returns when it is time: all that takes time itself is done before. What it raises is raised.
        """
        self._refuse_overlap(name, fault)
        try:
            fault.set_up()
        except CapabilityError as error:
            self._raise_if_lost(error)
            raise FaultError(f"the fault {name} could not be injected: {error}") from error
        self._write(name, "intent", {"fault": fault.name, "params": params, **fault.targets()}, durable=True)
        moment()
        self._active[name] = fault
        try:
            fault.inject()
            self._write(name, "injected", {"fault": fault.name})
            evidence = fault.verify()
        except CapabilityError as error:
            self._note_if_lost(error)
            evidence = Evidence(False, str(error), {})
        event = self._write(name, "proven" if evidence.proven else "unproven", _data(evidence))
        if not evidence.proven:
            self._raise_if_lost()
            raise FaultError(f"the fault {name} did not take effect: {evidence.how}")
        return event

    def heal(self, name: str) -> None:
        """Heal and prove it. Does nothing if it is healed already. FaultError if it did not heal, LinksLost if that is
        for want of a Toxiproxy."""
        if name in self._active and (failures := [*self._recover([name]), *self._prove_healed([name])]):
            self._raise_if_lost()
            raise FaultError("; ".join(failures))

    def heal_all(self) -> list[str]:
        """Heal whatever is left, and give a sentence for each fault that did not.

        All is undone first, the latest fault first (a pause ends before its stalled links are released), and only then
        is anything waited for: a restarted node may need the links that are healed after it.
        """
        names = list(reversed(self._active))
        failures = self._recover(names)
        return [*failures, *self._prove_healed(names)]

    def _recover(self, names: list[str]) -> list[str]:
        failures = []
        for name in names:
            self._write(name, "recovering", {}, durable=True)
            try:
                self._active[name].recover()
            except CapabilityError as error:
                self._note_if_lost(error)
                failures.append(f"the fault {name} could not be healed: {error}")
        return failures

    def _prove_healed(self, names: list[str]) -> list[str]:
        failures = []
        for name in names:
            try:
                evidence = self._active[name].verify_healed()
            except CapabilityError as error:
                self._note_if_lost(error)
                evidence = Evidence(False, str(error), {})
            self._write(name, "healed" if evidence.proven else "unhealed", _data(evidence))
            if evidence.proven:
                del self._active[name]
            else:
                failures.append(f"the fault {name} did not heal: {evidence.how}")
        return failures

    def _note_if_lost(self, error: CapabilityError) -> None:
        if self.lost is None and isinstance(error, LinksLost):
            self.lost = error

    def _raise_if_lost(self, error: CapabilityError | None = None) -> None:
        if error is not None:
            self._note_if_lost(error)
        if self.lost is not None:
            raise self.lost

    def _refuse_overlap(self, name: str, fault: Fault) -> None:
        for other, active in self._active.items():
            links = [f"{source} to {destination}" for source, destination in sorted(active.links() & fault.links())]
            shared = ", ".join([*links, *sorted(active.nodes() & fault.nodes())])
            if shared:
                raise FaultError(f"the fault {name} is aimed at {shared}, which {other} holds; heal that first")

    def _write(self, name: str, phase: str, data: Mapping[str, Any], *, durable: bool = False) -> Event:
        event = self._journal.write("fault", name, phase, data, durable=durable)
        self._instants.setdefault(f"{name}.{phase}", event.t)
        return event


def _data(evidence: Evidence) -> dict[str, Any]:
    return {"how": evidence.how, "measured": dict(evidence.measured)}
