"""The smallest plan that still fails: delta debugging over all that a plan is made of.

ddmin     subsets of things, and a predicate: knows no plan
parts     what a plan is made of, and plans with parts taken out
numbers   how long and how often, made less
trials    whether a plan fails at the stated rate
search    one after another, until nothing more can be dropped or the time is up
"""
