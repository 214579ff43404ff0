"""Declarations of the commands, a module for each panel of the help: parameters and help, no work."""
