"""How nodes are run. A backend is named on the command line, and recorded in the manifest of each run."""

from harness.errors import UsageError

BACKENDS = ("process",)


def check_backend(name: str) -> None:
    """Raises UsageError for a backend that there is not."""
    if name not in BACKENDS:
        raise UsageError(f"there is no backend {name!r}: the backends are {', '.join(BACKENDS)}")
