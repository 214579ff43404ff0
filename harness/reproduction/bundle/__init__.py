"""A run in one archive, from which somebody else starts the same topology and makes the same faults.

topology   the cluster of a plan as services of a compose file, with every file that its nodes read
schedule   what the run did to nodes and links, and when
pack       all of that, and the run itself, in one archive
"""
