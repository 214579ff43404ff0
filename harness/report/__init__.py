"""A run as people see it: one HTML page, and a few lines for a terminal. Made from plan, journal and verdict alone."""
