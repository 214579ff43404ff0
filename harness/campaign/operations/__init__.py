"""Operations: requests of an administrator, as steps of random plans, while faults hold and while none does.

One module an operation or a family of them, with a subclass of `Operation` that has a `name`.
"""
