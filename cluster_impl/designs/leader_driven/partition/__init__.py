"""What one replica of a partition decides: election, leading, following, reassignment, balancing. Pure."""
