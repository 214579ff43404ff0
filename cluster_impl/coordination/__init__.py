"""ZooKeeper for asyncio: sessions with stated transitions, watches that survive reconnects, compare-and-set, multi."""
