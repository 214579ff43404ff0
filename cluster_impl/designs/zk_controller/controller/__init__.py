"""The controller: the decisions in its packages are generators without I/O, which `runtime` drives."""
