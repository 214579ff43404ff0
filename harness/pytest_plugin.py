"""The pytest plugin that the entry point `fencepost` registers."""
