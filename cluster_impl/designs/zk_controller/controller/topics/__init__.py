"""Topics and partitions: creation, deletion, reassignment, preferred leaders."""
