"""`fencepost heal`: faults of the cluster that is up, undone."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.cli.control import ask, find_run


def heal(name: str | None, run: Path | None, start: bool) -> None:
    """Heal one fault, or all, and print their names; print or start the nodes that ended and stay so."""
    found = find_run(run)
    done = ask(found, "heal", name=name)
    healed, ended = done["healed"], done["ended"]
    print(f"healed: {', '.join(healed)}" if healed else "no fault was active")
    if ended and start:
        print(f"started, and each answers: {', '.join(ask(found, 'start', nodes=list(ended)))}")
    elif ended:
        print("not brought back, because these ended by themselves:")
        for message in ended.values():
            print(f"  {message}")
        print(
            f"start again on the data that is there: `fencepost start {' '.join(ended)}`, or `fencepost heal --start`"
        )
