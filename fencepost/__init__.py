"""The one import root of the project: `fencepost.harness`, `fencepost.faults` and so on.

Its sub-packages are the folders of the same names at the top of the repository, by symbolic links, so that tools see
the tree that a wheel installs. See `docs/decisions/0001-one-import-root.md`.
"""
