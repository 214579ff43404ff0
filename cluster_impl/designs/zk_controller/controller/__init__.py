"""The controller in ZooKeeper: pure cores that decide in steps, and the edge that runs them on a session."""
