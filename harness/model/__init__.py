"""The state that the accepted requests of a run must have led to, by kind: what each node has to describe.

A kind is one module of `kinds`. It knows the requests that change its objects, what they refuse, and the request that
describes them. `worlds` keeps the states that one object may have; `comparison` holds descriptions against them. All of
it is pure: plain data of requests and responses in, problems out.
"""
