"""Commands about target files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.options import OwnedOption


@dataclass(frozen=True)
class InitOptions(CommandOptions):
    """Write the target file of a broker that shows no control plane, from its command line alone.

    The broker is started once and asked, as by `fencepost doctor --target`: the file gets its ids, its listeners, the
    requests that it lacks and the clients that it can have. It promises little: that records survive what the broker
    does, no replicas and no failover. Without --command the command line is asked for.

    Variables stand for what fencepost decides: {{ address }} and {{ client_port }} that it binds, {{ advertised_client
    }} that it tells clients, {{ data }} for its files, {{ id }} if it takes one. docs/your-own-broker.md has all.

    With --bootstrap the file is that of a cluster that runs elsewhere, and nothing is started: it is asked for metadata
    and versions alone, and only with --i-own-this-cluster. Commands for faults are yours to add.

    Exit codes: 0 written; 1 written, and it does not fit the broker: the reason is printed; 2 the broker did not start,
    nothing is written; 64 the file exists, or a mistake in the command line.

    [bold]Examples[/bold]
      fencepost target init
      fencepost target init --command 'bin/acme --listen {{ address }}:{{ client_port }} --data {{ data }}'
      fencepost target init --bootstrap kafka.example:9092 --name ours --i-own-this-cluster 5Ld1bGHBQNmE2g3xV0cAyw
      fencepost target init --name acme --to targets/acme.yaml --command 'java -jar acme.jar {{ advertised_client }}'
    """

    command: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="The command line that starts one broker, in quotes.", show_default=False),
    ] = None
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of the target. Default: that of the program.")
    ] = None
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="The file to write. Default: NAME.yaml.")] = None

    bootstrap: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT,…",
            help="Bootstrap servers of a cluster that runs already, in place of --command.",
            show_default=False,
        ),
    ] = None
    security: Annotated[
        str | None,
        typer.Option(
            metavar="YAML",
            help="How clients get into that cluster, as `running: security` of the file has it: "
            "'{protocol: SASL_SSL, mechanism: PLAIN, user: me, password_from: KAFKA_PASSWORD, ca: ca.pem}'.",
            show_default=False,
        ),
    ] = None
    owned: OwnedOption = None

    def perform(self) -> int:
        if self.bootstrap is not None:
            from fencepost.harness.cli.target_init_elsewhere import init_elsewhere

            return init_elsewhere(self)
        from fencepost.harness.cli.target_init import init

        return init(self)
