"""Verbs that start, watch and stop the fleet, and report what it did.

`up`, `down`, `pause` and `worker` act; `status`, `top`, `logs`, `report` and `loop` only read.
"""
