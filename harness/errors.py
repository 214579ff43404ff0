"""Errors of the harness itself, as opposed to failures of the system under test."""

from fencepost.faults.capabilities import CapabilityError


class HarnessError(Exception):
    """An error that ends what the harness does. Its message says what is wrong, where, and what to do."""


class UsageError(HarnessError):
    """The caller named or wrote something that does not exist or is not possible: a name, a file, a version, a plan.

    Commands end with the exit code `WRONG_USAGE`, so that a mistake in a call is no fault of the machine.
    """


class DamagedResults(HarnessError):
    """Files of a results store are empty, cut or gone. Commands end with the exit code `DAMAGED`."""


class InfrastructureError(HarnessError, CapabilityError):
    """The harness or the machine failed, so the run says nothing about the rules: verdict `infrastructure`.

    Faults know it as a CapabilityError.
    """


class NodeNotReady(InfrastructureError):
    """A node that was started ended, or does not answer. The journal has which; the judge says whose doing it is."""


class DeadlinePassed(InfrastructureError):
    """The run was not over when its time was up. What it saw until then is evidence as in any other run."""


class CallHangs(InfrastructureError):
    """A call into a client library did not return in its time, and may never. What was seen before it is evidence.

    `seconds` is how long it has been under way.
    """

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class LinksLost(InfrastructureError):
    """A Toxiproxy died, hangs or refuses: the state of the links is unknown, so no fault of theirs is proven."""
