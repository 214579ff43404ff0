"""A broker of this design: one process, one ZooKeeper session at a time, and everything but its replicas."""
