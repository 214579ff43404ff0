"""The security of a plan for a target: that of the plan, of `--security` or of the target file, if it can have it."""

from __future__ import annotations

import difflib

from fencepost.harness.errors import UsageError
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.security import (
    SECURITIES,
    PlannedSecurity,
    Security,
    SecurityName,
    spelled_out,
    super_user,
)
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.target import Target


def security_named(name: str) -> SecurityName:
    """Return the name if it is one of `SECURITIES`, else raise UsageError."""
    found = next((known for known in SECURITIES if known == name), None)
    if found is None:
        near = difflib.get_close_matches(name, SECURITIES, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"there is no security {name!r}: {hint}it is one of {', '.join(SECURITIES)}")
    return found


def security_for(file: TargetFile, name: str | None) -> PlannedSecurity:
    """Return the security of plans that have none of their own: the one named by `--security`, else the target's.

    UsageError for a name that there is not, and for plaintext on a target whose file secures it.
    """
    if name is None:
        return file.security
    wanted = security_named(name)
    if file.secured.secures and not spelled_out(wanted).secures:
        raise UsageError(f"--security {name}: the target file of {file.name} has a `security`: leave the option out")
    return wanted


def with_security(plan: Plan, wanted: PlannedSecurity) -> Plan:
    """Return the plan with this security, unless it has one of its own."""
    if plan.secured.secures or not spelled_out(wanted).secures:
        return plan
    return plan.model_copy(update={"security": wanted})


def impossible(plan: Plan) -> str | None:
    """Return what a plan does that cannot be done with its security; None if all can."""
    if not plan.secured.secures:
        return None
    settings = plan.settings.of(controller=True, broker=True) if plan.settings else {}
    return next((problem.message for problem in problems(plan)), super_user(settings, plan.secured))


def check_security(target: Target, security: Security) -> None:
    """Raise UsageError if the listeners of this target cannot be secured so."""
    if security.secures and (reason := unsecurable(target, security)) is not None:
        raise UsageError(f"{reason}: choose another security, or another target")


def unsecurable(target: Target, security: Security) -> str | None:
    """Return why a target cannot have this security; None if it can. Drivers without `unsecurable` have none."""
    reason_of = getattr(target, "unsecurable", None)
    if reason_of is None:
        return f"no listener of {target.file.name} is secured here"
    reason: str | None = reason_of(security)
    return reason
