"""What the user did to the target branch and in their checkout while the fleet worked: no landing, and no incident."""

from collections.abc import Iterable

from dos.errors import GitFailed
from dos.evidence.work import landed
from dos.journal import engine_events, events
from dos.journal.events import Event
from dos.records.unknown import Unknown
from dos.sources.git import Reader
from dos.sources.world import World

MOST_LISTED = 50


def gather(world: World, happened: Iterable[Event]) -> list[str]:
    """A line for each commit, newest first, and one for what is not committed; empty where git cannot say."""
    begun, ours = "", set[str]()
    git = Reader(world.workspace.root)
    try:
        for event in happened:
            match events.decode(event):
                case events.RunBegun() as fact:
                    begun = begun or fact.start_sha
                case events.UnitLanded() as fact:
                    ours.update(git.commits_between(fact.base, fact.commit) if fact.base else [fact.commit])
                case engine_events.IncidentFound() as fact:
                    ours.update(fact.commits)
        ref = landed.target(world)
        if not begun or isinstance(ref, Unknown):
            return []
        said = git.run("log", f"--max-count={MOST_LISTED + len(ours)}", "--format=%H %s", f"{begun}..{ref}")
        dirty = git.dirty_paths()
    except GitFailed:
        return []  # the history was rewritten since, or is not here
    commits = (line.partition(" ") for line in said.splitlines())
    lines = [f"{sha[:9]} {subject}" for sha, _, subject in commits if sha not in ours][:MOST_LISTED]
    if dirty:
        rest = f" and {len(dirty) - 5} more" if len(dirty) > 5 else ""
        lines.append(f"not committed: {', '.join(dirty[:5])}{rest}")
    return lines
