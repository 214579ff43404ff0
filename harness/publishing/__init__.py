"""Read the facts of run folders, and publish them to a results store."""
