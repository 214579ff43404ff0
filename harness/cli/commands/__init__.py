"""The commands, a module for each panel of the help: parameters and help, and the work where it is a few lines."""
