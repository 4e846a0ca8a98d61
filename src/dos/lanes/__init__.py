"""Who may change what: the declared lanes, their leases, admission and the scope of a change.

`admission` decides whether a lane may be granted beside the live leases, `arbitrate` which lane to
take, and `scope` whether changed files belong to a lane.
"""
