"""All bugs of the gallery."""

from __future__ import annotations

from fencepost.suites.released_bugs import (
    administration,
    controllers,
    disks,
    membership,
    offsets,
    replication,
    shares,
    transactions,
    upgrades,
)
from fencepost.suites.released_bugs.bug import ReleasedBug

BUGS: tuple[ReleasedBug, ...] = (
    *replication.BUGS,
    *controllers.BUGS,
    *offsets.BUGS,
    *membership.BUGS,
    *shares.BUGS,
    *transactions.BUGS,
    *disks.BUGS,
    *administration.BUGS,
    *upgrades.BUGS,
)

BY_SLUG = {bug.slug: bug for bug in BUGS}
