"""Verbs about lanes and leases.

Most print JSON always, because scripts of dos-kernel read it; `--output plain` prints a sentence.
`caller.py` and `pauses.py` are no verbs: they hold what several verbs share.
"""
