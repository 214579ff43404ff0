"""The smallest plan that still fails: delta debugging over the parts of a plan.

ddmin     subsets of things and a predicate, without knowledge of plans
parts     the parts of a plan, and plans without some of them
numbers   durations and counts, reduced
trials    whether a plan fails at the stated rate
side_by_side  the same for several plans at once
search    all of these, until nothing more can be dropped or the time is up
"""
