"""`python -m harness.cli`: the same as `fencepost`."""

from harness.cli.main import main

main()
