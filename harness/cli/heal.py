"""`fencepost heal`: faults of the cluster that is up, undone."""

from __future__ import annotations

from fencepost.harness.cli.commands.interactive import HealOptions
from fencepost.harness.cli.control import ask, find_run


def heal(options: HealOptions) -> None:
    """Heal one fault, or all, and print their names; print or start the nodes that ended and stay so."""
    found = find_run(options.run)
    done = ask(found, "heal", name=options.name)
    healed, ended = done["healed"], done["ended"]
    print(f"healed: {', '.join(healed)}" if healed else "no fault was active")
    if ended and options.start:
        print(f"started, and each answers: {', '.join(ask(found, 'start', nodes=list(ended)))}")
    elif ended:
        print("not brought back, because these ended by themselves:")
        for message in ended.values():
            print(f"  {message}")
        print(
            f"start again on the data that is there: `fencepost start {' '.join(ended)}`, or `fencepost heal --start`"
        )
