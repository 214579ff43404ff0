"""Inject steps: one class for each fault of `faults`, with its parameters as a plan writes them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.plan.injects.base import InjectStep
from harness.plan.injects.disks import InjectDisks, InjectLogDir
from harness.plan.injects.identity import InjectDuplicate, InjectIdentity
from harness.plan.injects.links import InjectCut, InjectIsolate, InjectLinks, InjectOneWay, InjectStall
from harness.plan.injects.processes import InjectKill, InjectPause, InjectProcesses

Inject = Annotated[InjectLinks | InjectProcesses | InjectIdentity | InjectDisks, Field(discriminator="fault")]

__all__ = [
    "Inject",
    "InjectCut",
    "InjectDuplicate",
    "InjectIsolate",
    "InjectKill",
    "InjectLogDir",
    "InjectOneWay",
    "InjectPause",
    "InjectStall",
    "InjectStep",
]
