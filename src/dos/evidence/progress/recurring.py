"""What stopped a run, and what stopped the runs before it, as the journal tells it."""

from dos.journal import fold
from dos.journal.states.fleet import Fleet, FleetRun
from dos.journal.store import Store
from dos.records.reasons import Needs
from dos.verdicts.progress.recurring import Evidence, Hit


def gather(journal: Store, run_id: str = "") -> Evidence | None:
    """For a run, or for the one that stopped last; None when there is no such run."""
    runs = fold.current(journal, Fleet)[0].runs
    stopped = sorted((name for name, run in runs.items() if run.stop_reason), key=lambda name: runs[name].stopped_ms)
    asked = run_id or next(reversed(stopped), "")
    if asked not in runs:
        return None
    earlier = stopped[: stopped.index(asked)] if asked in stopped else stopped
    own = _hit(asked, runs[asked])
    return Evidence(
        run=asked,
        cause_keys=(own.cause_key,) if own else (),
        prior_hits=tuple(hit for name in earlier if (hit := _hit(name, runs[name]))),
    )


def _hit(name: str, run: FleetRun) -> Hit | None:
    """A stop that nobody has to clear is no blocker."""
    if not run.stop_reason or run.needs in ("", Needs.NOBODY):
        return None
    return Hit(
        run=name,
        cause_key=run.stop_reason,
        iter_n=run.iterations,
        wall_min=max(0, run.stopped_ms - run.begun_ms) / 60_000,
        example=run.stop_detail,
        source="journal",
    )
