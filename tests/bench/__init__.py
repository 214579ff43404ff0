"""Speed and memory of the reference cluster beside Apache Kafka, as ratios of one run: `make bench`."""
