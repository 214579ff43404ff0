"""How a core says that it is not the controller any more."""

from __future__ import annotations


class ControllerMoved(Exception):
    """A core read what only a later controller can have written. The term is over, as if a write had been refused."""
