"""Inject steps: one class for each fault of `faults`, with its parameters as a plan writes them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.plan.injects.base import InjectStep
from harness.plan.injects.clock import InjectClock, InjectClockJump, InjectClockSkew
from harness.plan.injects.containers import InjectContainers, InjectCpu, InjectDisconnect, InjectMemory
from harness.plan.injects.disks import (
    InjectBitFlip,
    InjectDiskError,
    InjectDiskFull,
    InjectDiskReadOnly,
    InjectDisks,
    InjectDiskSlow,
    InjectLogDir,
    InjectPowerLoss,
    InjectTornWrite,
)
from harness.plan.injects.identity import (
    InjectChangedId,
    InjectDuplicate,
    InjectForeignCluster,
    InjectIdentity,
    InjectSwapped,
)
from harness.plan.injects.links import (
    InjectBlackhole,
    InjectBridge,
    InjectCut,
    InjectCutAfterBytes,
    InjectFlapping,
    InjectIsolate,
    InjectLinks,
    InjectOneWay,
    InjectReset,
    InjectRing,
    InjectSlow,
    InjectStall,
)
from harness.plan.injects.processes import (
    InjectCrashLoop,
    InjectEmptied,
    InjectKill,
    InjectLateBytes,
    InjectPause,
    InjectProcesses,
    InjectRestored,
    InjectRollingRestart,
    InjectTerminate,
)

Inject = Annotated[
    InjectLinks | InjectProcesses | InjectIdentity | InjectDisks | InjectClock | InjectContainers,
    Field(discriminator="fault"),
]

__all__ = [
    "Inject",
    "InjectBitFlip",
    "InjectBlackhole",
    "InjectBridge",
    "InjectChangedId",
    "InjectClockJump",
    "InjectClockSkew",
    "InjectCpu",
    "InjectCrashLoop",
    "InjectCut",
    "InjectCutAfterBytes",
    "InjectDisconnect",
    "InjectDiskError",
    "InjectDiskFull",
    "InjectDiskReadOnly",
    "InjectDiskSlow",
    "InjectDuplicate",
    "InjectEmptied",
    "InjectFlapping",
    "InjectForeignCluster",
    "InjectIsolate",
    "InjectKill",
    "InjectLateBytes",
    "InjectLogDir",
    "InjectMemory",
    "InjectOneWay",
    "InjectPause",
    "InjectPowerLoss",
    "InjectReset",
    "InjectRestored",
    "InjectRing",
    "InjectRollingRestart",
    "InjectSlow",
    "InjectStall",
    "InjectStep",
    "InjectSwapped",
    "InjectTerminate",
    "InjectTornWrite",
]
