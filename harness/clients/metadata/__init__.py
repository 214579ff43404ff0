"""The controllers' own log, read as any broker reads it: the one account of epochs, leaders and ISRs in order."""
