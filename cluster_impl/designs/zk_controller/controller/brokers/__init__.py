"""Reports and requests of brokers: liveness, failed log dirs, ISR changes, controlled shutdown."""
