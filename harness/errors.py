"""What can go wrong with the harness itself, as opposed to the system under test."""

from faults.capabilities import CapabilityError


class HarnessError(Exception):
    """Something the harness cannot go on from; the message is a sentence with what, where, and what to do."""


class UsageError(HarnessError):
    """The caller asked for something that does not exist or cannot be: a name, a file, a version."""


class InfrastructureError(HarnessError, CapabilityError):
    """The machinery around the cluster failed, so the run says nothing about the rules: verdict `infrastructure`.

    Faults know it as a CapabilityError.
    """


class LinksLost(InfrastructureError):
    """A Toxiproxy died, hangs or refuses: nobody knows what the links do, and no fault of them proves anything."""
