"""Faults by the name that plans and the command line use."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from faults import clock, containers, disks, identity, links, processes
from faults.capabilities import Cluster
from faults.fault import Fault

FAULTS: Mapping[str, Callable[..., Fault]] = {
    fault.name: fault for family in (links, processes, identity, disks, clock, containers) for fault in family.FAULTS
}


class UnknownFault(ValueError):
    """A name or parameter that no fault has."""


def build(name: str, cluster: Cluster, params: Mapping[str, Any]) -> Fault:
    """The fault `name` with the plan's parameters (`from`, `to`, `nodes`: lists of node names)."""
    if name not in FAULTS:
        raise UnknownFault(f"no fault is called `{name}`{_nearest(name, FAULTS)}")
    make = FAULTS[name]
    known = {key.rstrip("_"): key for key in inspect.signature(make).parameters if key != "cluster"}
    for key in params:
        if key not in known:
            raise UnknownFault(f"the fault `{name}` has no parameter `{key}`{_nearest(key, known)}")
    try:
        return make(cluster, **{known[key]: value for key, value in params.items()})
    except TypeError as error:
        raise UnknownFault(f"the fault `{name}` lacks a parameter: {error}") from None


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{near[0]}`?" if near else f"; there are: {', '.join(known)}"
