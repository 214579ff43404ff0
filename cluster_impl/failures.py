"""The reasons for which a node ends other than by a signal. The messages are for the operator of the node."""


class StartupError(Exception):
    """The node cannot run as configured."""


class NodeFailure(Exception):
    """The node ran and cannot continue, without a fault of its software: its disks failed, or its id was taken over."""
