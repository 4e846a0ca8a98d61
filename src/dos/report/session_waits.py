"""Follows the waits of a session: runs and agents that wait, and providers that refuse requests.

`session_fold` reports each begin and end here. A wait is added to the session when it begins and
changed when it ends, so that a session has its waits in the order of their begin.
"""

from datetime import datetime

from dos.journal.events import limits
from dos.report.session import LimitPeriod, Session, Wait
from dos.times import utc_datetime


class OpenWaits:
    """The waits and limits of a session that have not ended yet.

    A run and its agent may wait at the same time: the run for its turn, the agent for its provider.
    Each of them has at most one wait; a new one ends the one before it.
    """

    def __init__(self, session: Session) -> None:
        """Add waits and limits to this session."""
        self._session = session
        self._waits: dict[tuple[str, bool], Wait] = {}  # by run, and whether its agent waits
        self._limits: dict[tuple[str, str, str], LimitPeriod] = {}  # vendor, account, model

    def still_open(self) -> list[Wait | LimitPeriod]:
        """Return the waits and limits without an end."""
        return [*self._waits.values(), *self._limits.values()]

    def park_run(self, fact: limits.RunParked, at: datetime) -> None:
        """Begin the wait of a run, which keeps its lane meanwhile."""
        wait = Wait(
            lane=fact.lane,
            run_id=fact.run_id,
            why=fact.why,
            detail=fact.detail,
            start=at,
            end=at,
        )
        self._begin((fact.run_id, False), wait)

    def unpark_run(self, run_id: str, at: datetime) -> None:
        """End the wait of a run, if it has one."""
        self._end((run_id, False), at)

    def park_agent(self, fact: limits.AgentWaiting, at: datetime) -> None:
        """Begin the wait of an agent for its provider."""
        wait = Wait(
            lane=fact.lane,
            run_id=fact.run_id,
            why="provider",
            detail=fact.detail or fact.ending,
            start=at,
            end=at,
        )
        self._begin((fact.run_id, True), wait)

    def unpark_agent(self, run_id: str, at: datetime) -> None:
        """End the wait of a run's agent, if it has one: it works again, or it ended."""
        self._end((run_id, True), at)

    def end_run(self, run_id: str, at: datetime) -> None:
        """End all waits of a run that stopped or died."""
        self.unpark_run(run_id, at)
        self.unpark_agent(run_id, at)

    def hit_limit(self, fact: limits.LimitHit, at: datetime) -> None:
        """Begin a limit of a provider, or count that it was reported once more.

        Several agents meet the same limit; it stays one period, with the newest reset time.
        """
        key = (fact.vendor, fact.account, fact.model)
        resets_at = None
        if fact.resets_at_ms is not None:
            resets_at = utc_datetime(fact.resets_at_ms)
        period = self._limits.get(key)
        if period:
            period.times += 1
            period.resets_at = resets_at or period.resets_at
            return
        period = LimitPeriod(
            vendor=fact.vendor,
            account=fact.account,
            model=fact.model,
            ending=fact.ending,
            lane=fact.lane,
            found=fact.found,
            start=at,
            end=at,
            resets_at=resets_at,
        )
        self._limits[key] = period
        self._session.limits.append(period)

    def lift_limit(self, fact: limits.LimitLifted, at: datetime) -> None:
        """End the limit of a provider; one from before the session is not known here."""
        period = self._limits.pop((fact.vendor, fact.account, fact.model), None)
        if period:
            period.end = at
            period.is_over = True

    def _begin(self, key: tuple[str, bool], wait: Wait) -> None:
        self._end(key, wait.start)
        self._waits[key] = wait
        self._session.waits.append(wait)

    def _end(self, key: tuple[str, bool], at: datetime) -> None:
        wait = self._waits.pop(key, None)
        if wait:
            wait.end = at
            wait.is_over = True
