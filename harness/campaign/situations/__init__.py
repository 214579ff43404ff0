"""Situations: a fault hits while something else is going on.

One module a situation or a family of them, with a subclass of `Situation` that has a `name`.
"""
