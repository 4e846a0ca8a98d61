"""A workspace for the arbiter: three lanes that run side by side and one that runs alone."""

from dos.lanes.arbitrate import ArbiterRequest
from dos.lanes.leases import LiveLease
from dos.lanes.roster import Roster

TREES = {"api": ("api/**",), "docs": ("docs/**",), "worker": ("worker/**",), "global": ("**/*",)}


def roster(**changes):
    lanes = ("api", "docs", "worker")
    return Roster(
        **{"concurrent": lanes, "autopick": lanes, "exclusive": ("global",), "trees": TREES}
        | changes
    )


def live(lane, *tree, kind="cluster", **given):
    return LiveLease(
        lane=lane, lane_kind=kind, tree=tree or TREES.get(lane, ()), loop_ts="t1", **given
    )


def ask(lane="", kind="", *tree, **flags):
    return ArbiterRequest(lane=lane, kind=kind, tree=tree, **flags)


API = [live("api")]
GLOBAL = [live("global", kind="global")]
ALL = [live("api"), live("docs"), live("worker")]
