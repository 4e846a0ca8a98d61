"""Decide whether an asker may use a tool: the one rule of every transport.

| asker | inside its region | outside | in a region of others | cannot be read | only reads |
|---|---|---|---|---|---|
| holder | allow | deny | deny | allow | allow |
| its lease was lost | deny | deny | deny | deny | allow |
| a stranger in a lane's tree | deny | deny | deny | deny | allow |
| a person's session | allow | allow | by the posture | allow | allow |

What a call writes cannot always be read. A holder is not stopped for that: the commit gate and the
landing look at the same paths again, and a refusal would stop every test run. Whoever holds nothing
has nothing to do in a lane's tree, so there only calls that are proven to read are allowed.
"""

from collections.abc import Sequence

from dos.permission.ask import (
    Allow,
    Answer,
    Ask,
    Asker,
    AskerKind,
    AskPerson,
    Deny,
    Neighbour,
    Posture,
)
from dos.permission.region import holds, is_git_directory, is_outside_of_tree, name_paths
from dos.permission.tools import TYPES_INTO_A_PROGRAM
from dos.regions import Region
from dos.text import quote, show_name

FENCE_LOST = "FENCE_LOST"
GIT_DIRECTORY = "GIT_DIRECTORY"
NO_LEASE = "NO_LEASE"
OTHER_TREE = "OTHER_TREE"
OUT_OF_REGION = "OUT_OF_REGION"
REGION_HELD = "REGION_HELD"
UNREAD_INPUT = "UNREAD_INPUT"

_STOP = "Stop working in this tree. Your commits are kept; another worker continues the unit."
_STAY = "Change only paths of your lane, and report what you need elsewhere."


def judge(ask: Ask) -> Answer:
    """Return whether the asker may use the tool. Reads are always allowed."""
    if ask.footprint.reads_only:
        is_assisted = ask.asker.kind is AskerKind.PERSON and ask.asker.posture is Posture.ASSIST
        return Allow(at_once=is_assisted and ask.footprint.has_no_effect)
    match ask.asker.kind:
        case AskerKind.HOLDER:
            return _judge_holder(ask)
        case AskerKind.LOST:
            return _judge_lost(ask)
        case AskerKind.STRANGER:
            return _judge_stranger(ask)
        case AskerKind.PERSON:
            return _judge_person(ask)


def _judge_holder(ask: Ask) -> Answer:
    """Allow what lies inside of the region; what cannot be read is judged when it is committed."""
    asker = ask.asker
    own = [asker.region, *(each.region for each in asker.further)]
    paths = ask.footprint.paths
    strays = [path for path in paths if not any(holds(region, path) for region in own)]
    if strays:
        return _stray(asker, strays)
    if ask.tool in TYPES_INTO_A_PROGRAM:
        lane = name_lanes(asker)
        return Allow(
            note=f"What this sends to a running program cannot be read. You hold {lane}. {_STAY}",
            reason_class=UNREAD_INPUT,
            about=asker.lane,
        )
    return Allow()


def _stray(asker: Asker, strays: Sequence[str]) -> Deny:
    """The refusal of a holder that would write outside of its region."""
    names = name_paths(strays)
    for path in strays:
        if is_git_directory(path):
            return Deny(
                reason=f"{names}: no lane may write to git's own files.",
                hint="Use git commands; they are checked when they run.",
                reason_class=GIT_DIRECTORY,
            )
    if all(is_outside_of_tree(path) for path in strays):
        return Deny(
            reason=f"{names}: this is another work tree, and you hold {name_lanes(asker)}.",
            hint="Work only in the tree that you were started in.",
            reason_class=OTHER_TREE,
        )
    found = _held_by_others(asker, strays)
    if found:
        path, neighbour = found
        return Deny(
            reason=f"{_held(path, neighbour)}; you hold {name_lanes(asker)}.",
            hint=_STAY,
            reason_class=REGION_HELD,
        )
    verb = "is" if len(strays) == 1 else "are"
    return Deny(
        reason=f"{names} {verb} outside of {name_lanes(asker)}.",
        hint=_STAY,
        reason_class=OUT_OF_REGION,
    )


def _judge_lost(ask: Ask) -> Answer:
    """Deny every call that is not proven to read."""
    asker = ask.asker
    lane = f"lane {asker.lane}" if asker.lane else "your lane"
    fence = f" (fence {asker.fence})" if asker.fence is not None else ""
    return Deny(
        reason=f"Your lease of {lane}{fence} has ended, so you may not {_what(ask)}.",
        hint=_STOP,
        reason_class=FENCE_LOST,
    )


def _judge_stranger(ask: Ask) -> Answer:
    """Deny every call that is not proven to read: the tree belongs to a worker."""
    return Deny(
        reason=f"This is the work tree of a lane, and you do not hold the lane, so you may not"
        f" {_what(ask)}.",
        hint="Work in your own checkout, or take a lane: dos lease-lane acquire --lane LANE"
        " --owner NAME",
        reason_class=NO_LEASE,
    )


def _judge_person(ask: Ask) -> Answer:
    """Allow a person's session everything but, by the posture, regions that others hold."""
    found = _held_by_others(ask.asker, ask.footprint.paths)
    if not found:
        return Allow()
    path, neighbour = found
    fact = f"{_held(path, neighbour)}."
    advice = "Your change and its work may conflict."
    match ask.asker.posture:
        case Posture.OBSERVE:
            return Allow(note=f"{fact} {advice}", reason_class=REGION_HELD, about=neighbour.lane)
        case Posture.GATE | Posture.ASSIST:
            return AskPerson(question=f"{fact} {advice} Write there?", reason_class=REGION_HELD)
        case Posture.BLOCK:
            return Deny(
                reason=fact,
                hint="Wait until the lane is free (dos lease-lane live), or work on other paths.",
                reason_class=REGION_HELD,
            )


def _held_by_others(asker: Asker, paths: Sequence[str]) -> tuple[str, Neighbour] | None:
    """The first path that lies in a region of somebody else, and whose it is."""
    for path in paths:
        for neighbour in asker.neighbours:
            if holds(neighbour.region, path):
                return path, neighbour
    return None


def _held(path: str, neighbour: Neighbour) -> str:
    """Whose a path is: the words of every refusal and warning about a region of others."""
    holder = "another worker"
    if neighbour.run_id:
        holder = f"the worker of run {neighbour.run_id}"
    elif neighbour.holder:
        holder = quote(neighbour.holder)
    return f"{name_paths([path])} belongs to lane {neighbour.lane}, which {holder} holds"


def _what(ask: Ask) -> str:
    """What was asked for, after "you may not"."""
    if ask.footprint.paths:
        return f"write {name_paths(ask.footprint.paths)}"
    tool = show_name(ask.tool) if ask.tool else "this tool"
    return f"use {tool} for what is not proven to only read"


def name_lanes(asker: Asker) -> str:
    """The lanes of a holder with their globs, as sentences name them."""
    lanes = [(asker.lane, asker.region), *((each.lane, each.region) for each in asker.further)]
    return " and ".join(_with_paths(lane, region) for lane, region in lanes)


def _with_paths(lane: str, region: Region | None) -> str:
    globs = ", ".join(region.globs) if region else ""
    return f"lane {lane} ({globs or 'which has no paths'})"
