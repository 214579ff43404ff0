"""What many runs say together. The only part that needs Spark."""
