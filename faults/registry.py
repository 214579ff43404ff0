"""All faults, by the name that plans and the command line use.

Every module of every package in this folder is imported, and the faults that it defines are registered. The order is
that of the file names: packages first, then modules.
"""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fencepost.faults.capabilities import Cluster
from fencepost.faults.fault import Fault
from fencepost.faults.parameters import FaultParameters, key_of

PACKAGE = __name__.rpartition(".")[0]


def _discover() -> Iterator[type[Fault]]:
    """Yield each class that has a name of its own, from the module that defines it."""
    folder = Path(__file__).parent
    families = sorted(found.name for found in pkgutil.iter_modules([str(folder)]) if found.ispkg)
    for family in families:
        for module in sorted(found.name for found in pkgutil.iter_modules([str(folder / family)])):
            loaded = import_module(f"{PACKAGE}.{family}.{module}")
            for each in vars(loaded).values():
                if isinstance(each, type) and issubclass(each, Fault) and each.__module__ == loaded.__name__:
                    yield from [each] if "name" in vars(each) else []


FAULTS: Mapping[str, type[Fault]] = {fault.name: fault for fault in _discover()}


class UnknownFault(ValueError):
    """A name that no fault has, or parameters that the fault does not take."""


def family(fault: type[Fault]) -> str:
    """Return the name of the package that the fault is in: `links`."""
    return fault.__module__.split(".")[-2]


def names_in_family(wanted: str) -> frozenset[str]:
    """Return the names of the faults of one family."""
    return frozenset(name for name, fault in FAULTS.items() if family(fault) == wanted)


def build(name: str, cluster: Cluster, params: Mapping[str, Any]) -> Fault:
    """Return the fault `name` with parameters as a plan writes them (`from`, `to`, `nodes`: lists of node names).

    Raise UnknownFault with the nearest right name if the fault or a parameter is not known, or a value is not allowed.
    """
    if name not in FAULTS:
        raise UnknownFault(f"no fault is called `{name}`{_nearest(name, FAULTS)}")
    fault = FAULTS[name]
    known = [key_of(field) for field in fault.Parameters.model_fields]
    for key in params:
        if key not in known:
            raise UnknownFault(f"the fault `{name}` has no parameter `{key}`{_nearest(key, known)}")
    try:
        parameters: FaultParameters = fault.Parameters.model_validate(dict(params))
    except ValidationError as error:
        raise UnknownFault("; ".join(_message(name, detail) for detail in error.errors())) from None
    return fault(cluster, parameters.resolved(str, lambda refs: [refs] if isinstance(refs, str) else refs))


def _message(name: str, detail: Mapping[str, Any]) -> str:
    key = ".".join(map(str, detail["loc"]))
    if detail["type"] == "missing":
        return f"the fault `{name}` lacks a parameter: `{key}`"
    return f"the parameter `{key}` of the fault `{name}`: {detail['msg']}"


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{near[0]}`?" if near else f"; there are: {', '.join(known)}"
