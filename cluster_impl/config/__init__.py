"""The configuration of a node: tables of keys, and the property file that fills them.

Each table is a frozen dataclass; a field is one key with its type, unit, default and document. Parts of a node receive
the table that concerns them. This package imports nothing else of the cluster.
"""
