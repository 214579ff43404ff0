"""A mechanism, the probe that tries it, and what it found."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

PROBE_SECONDS = 20.0


class Unavailable(Exception):
    """The mechanism does not work here. The message says what was tried, and the result.

    `remedy` replaces the remedy of the mechanism, where what that would install is there.
    """

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(frozen=True)
class Mechanism:
    """A mechanism that the harness can use, and the probe that tries it."""

    name: str
    probe: Callable[[], str]
    lost: str
    remedy: str


@dataclass(frozen=True)
class Diagnosis:
    """The result of a probe. `how` is the evidence if the mechanism is available, else the reason.

    Without `answered`, the probe was given up: the mechanism may be there.
    """

    name: str
    available: bool
    how: str
    lost: str
    remedy: str
    answered: bool = True


def diagnose(mechanism: Mechanism) -> Diagnosis:
    """Run one probe. Any exception means that the mechanism cannot be used here."""
    try:
        return Diagnosis(mechanism.name, True, mechanism.probe(), mechanism.lost, mechanism.remedy)
    except Unavailable as reason:
        return Diagnosis(mechanism.name, False, str(reason), mechanism.lost, reason.remedy or mechanism.remedy)
    except subprocess.TimeoutExpired as late:
        how = f"it did not answer within {late.timeout:g} s"
        return Diagnosis(mechanism.name, False, how, mechanism.lost, "ask again when this machine is less busy", False)
    except Exception as error:
        how = f"{type(error).__name__}: {error}"
        return Diagnosis(mechanism.name, False, how, mechanism.lost, mechanism.remedy)


def output(*command: str, seconds: float = PROBE_SECONDS) -> str:
    """Return the output of a command on both streams, without colours.

    Raises Unavailable if it is absent or fails, subprocess.TimeoutExpired if it hangs.
    """
    program = shutil.which(command[0])
    if program is None:
        raise Unavailable(f"no {command[0]} on the PATH")
    done = subprocess.run(
        [program, *command[1:]], capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} ended with exit code {done.returncode}: {(done.stderr or done.stdout)[-120:]}")
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
