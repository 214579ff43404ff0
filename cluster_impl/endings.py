"""Why a node ends other than by a signal. The messages are sentences, for whoever runs the node."""


class StartupError(Exception):
    """The node cannot run as configured."""


class NodeFailure(Exception):
    """The node ran and cannot go on, by no fault of its software: its disks are gone, or its id is another's."""
