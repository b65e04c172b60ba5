"""A real SGLang release's own launch validators on a machine without a GPU.

Nothing of SGLang is stored here: a release is imported from its wheel, installed by
``python -m conformance.oracle.setup`` in an environment of its own, and only the hardware is faked.
"""
