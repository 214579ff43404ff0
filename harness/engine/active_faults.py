"""The faults in effect: journal the intent before anything breaks, prove the effect after, heal all that are left.

Two faults on one link, or on one process, are refused: healing the first would heal the second unseen. A pause may
follow a kill's restart: once a fault is healed, its links and processes are free again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fencepost.faults.capabilities import CapabilityError, Evidence
from fencepost.faults.fault import Fault
from fencepost.harness.engine.errors import FaultError
from fencepost.harness.errors import LinksLost
from fencepost.results.records.events import Event
from fencepost.results.records.journal import JournalWriter


class ActiveFaults:
    """The faults of a run that are not healed, in the order in which they were injected."""

    def __init__(self, journal: JournalWriter, instants: dict[str, float] | None = None) -> None:
        """Record in `instants` when each fault is injected, proven and healed: `cut.proven`, in the journal's time."""
        self._journal = journal
        self._instants = {} if instants is None else instants
        self._active: dict[str, Fault] = {}
        self.lost: LinksLost | None = None
        """The failure of a Toxiproxy, after which no state of a link is known. Each later call raises it."""

    @property
    def by_name(self) -> Mapping[str, Fault]:
        """Return the faults that were injected and are not healed, by name."""
        return dict(self._active)

    def inject(
        self, name: str, fault: Fault, params: Mapping[str, Any], moment: Callable[[], None] = lambda: None
    ) -> Event:
        """Inject the fault, prove its effect, and return the `proven` event.

        `moment` returns when it is time to inject; the set-up, which takes time itself, is done before. Its errors
        propagate. Raise FaultError if the fault cannot be injected or shows no effect, LinksLost if that is because a
        Toxiproxy failed.
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
            evidence = Evidence.against(str(error))
        event = self._write(name, "proven" if evidence.proven else "unproven", _data(evidence))
        if not evidence.proven:
            self._raise_if_lost()
            raise FaultError(f"the fault {name} did not take effect: {evidence.shortfall}")
        return event

    def heal(self, name: str) -> None:
        """Heal the fault and prove that it is healed; do nothing if it is healed already.

        Raise FaultError if it did not heal, LinksLost if that is because a Toxiproxy failed.
        """
        if name in self._active and (failures := [*self._recover([name]), *self._prove_healed([name])]):
            self._raise_if_lost()
            raise FaultError("; ".join(failures))

    def heal_all(self) -> list[str]:
        """Heal all faults that are left, and return a message for each that did not heal.

        First undo all faults, the latest first (a pause ends before its stalled links are released), and only then
        wait for any: a restarted node may need the links that are healed after it.
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
                evidence = Evidence.against(str(error))
            self._write(name, "healed" if evidence.proven else "unhealed", _data(evidence))
            if evidence.proven:
                del self._active[name]
            else:
                failures.append(f"the fault {name} did not heal: {evidence.shortfall}")
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
    missed = {} if evidence.proven else {"missed": evidence.shortfall}
    return {"how": evidence.how, **missed, "measured": dict(evidence.measured)}
