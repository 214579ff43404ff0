"""The same requests to several targets, and where their answers, and what they describe afterwards, differ.

`probes` has a file for each request of the protocol. A plan sends them to one target (`questions`), a run journals the
answers (`asking`, `answers`), and the rest is pure: what differs by nature is masked (`masks`), the rest compared
(`differences`), and shown as one table (`table`).
"""
