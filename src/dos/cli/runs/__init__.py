"""Verbs about runs: declare the work of one, check it by git, stop it, resume it, look at it.

`lookup.py` is no verb: it finds the run that an argument names, and records events about it.
"""
