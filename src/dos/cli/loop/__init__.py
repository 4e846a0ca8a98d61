"""Verbs about a loop: whether it continues, and why.

Each verdict verb prints the verdict and its reason, and answers by its exit code. Options override
the policy of dos.toml.
"""
