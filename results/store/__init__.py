"""The results store: tables in Delta Lake with the facts of all published runs, without their node data."""
