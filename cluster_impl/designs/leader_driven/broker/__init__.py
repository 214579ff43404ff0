"""A broker of this design as one process on one ZooKeeper session: everything around its replicas."""
