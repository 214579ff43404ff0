"""A run in one archive, from which another machine starts the same topology and makes the same faults.

topology   the cluster of a plan as services of a compose file, with every file that its nodes read
schedule   the actions of the run on nodes and links, with their times
pack       all of that, and the run itself, in one archive
"""
