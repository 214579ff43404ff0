"""Reads a cluster's state where it is: in ZooKeeper, through the probe site's own link."""
