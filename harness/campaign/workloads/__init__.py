"""Workloads: the kinds of clients that run beside the steps of random plans.

One module a kind, with a subclass of `WorkloadFeature` that has a `name`.
"""
