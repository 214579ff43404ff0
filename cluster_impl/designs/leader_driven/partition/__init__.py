"""The decisions of one replica: election, leading, following, reassignment, balancing. No I/O and no clock."""
