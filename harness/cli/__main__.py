"""`python -m fencepost.harness.cli`: the same as `fencepost`."""

from fencepost.harness.cli.main import main

main()
