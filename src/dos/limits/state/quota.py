"""Fold the limits of providers from the journal: who hit one, who probes it, when it was lifted.

Several agents of one account may report the same limit, in any order. The fold keeps the report
that lasts longest, and counts a series of reports as one hit.
"""

from typing import ClassVar, assert_never

from msgspec import Struct, field, structs

from dos.agents.adapter import LIMITS, PERSONAL, Ending
from dos.agents.logins import Credentials
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events import fleet
from dos.journal.events.envelope import Event
from dos.journal.events.limits import LimitHit, LimitLifted, LimitProbed
from dos.journal.events.reader import FactReader
from dos.limits import quota
from dos.limits.quota import Key, Limit, ProbeInProgress

# Which of several endings reported together counts: one that needs a person outlasts any window.
_WEIGHT: dict[str, int] = {
    Ending.TRANSIENT: 1,
    Ending.OVERLOADED: 1,
    Ending.USAGE_WINDOW: 2,
    **dict.fromkeys(PERSONAL, 3),
}
# A probe whose agent ended like this has a result, and its worker is about to record it.
_CONCLUSIVE = {ending.value for ending in quota.ANSWERED | LIMITS}

Handled = (
    LimitHit
    | LimitProbed
    | LimitLifted
    | fleet.AgentEnded
    | fleet.RunStopped
    | fleet.WorkerReaped
    | fleet.FleetStarted
)
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned lane_failed drain_requested fleet_stopped
        decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged agent_started
        work_measured landing_intended unit_landed landing_refused unit_attempted
        iteration_committed id_allocated journal_pruned units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended
        halt_requested spin_flagged decision_raised decision_answered plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised
        baseline_started baseline_checked work_committed fleet_found incident_found intent_declared
        extent_changed step_claimed step_verified run_suspended resume_proposed run_resumed
        run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed
        command_checked line_imported line_unreadable tool_called hook_answered marker_held
        marker_reset session_bound export_advanced notification_sent verdict_given lifecycle_ticked
        run_steered steer_delivered
    """,
)


class ProviderLimits(Struct, kw_only=True):
    """The state of every limit that was ever hit. A fold: `apply` takes one event after the other.

    A limit that was lifted stays known: it says when lanes may start again, and its version is
    what the next probe is written on top of.
    """

    name: ClassVar[str] = "quota"
    made_with: ClassVar[tuple[str, ...]] = (quota.__name__,)

    limits: dict[str, Limit] = field(default_factory=dict)  # by the path of their key

    @property
    def not_lifted(self) -> list[Limit]:
        """The limits that hold now, also those of agents that are no longer in use."""
        return [limit for limit in self.limits.values() if limit.ending]

    def apply(self, event: Event) -> None:
        """Fold one event."""
        match _reader.decode(event):
            case None:
                pass
            case LimitHit() as fact:
                self._hit(fact, event)
            case LimitProbed() as fact:
                going = ProbeInProgress(run_id=fact.run_id, lane=fact.lane, at_ms=event.at_ms)
                self._keep(structs.replace(self._limit(fact), probe=going), event)
            case LimitLifted() as fact:
                limit = self._limit(fact)
                lifted = Limit(
                    key=limit.key,
                    probe=limit.probe,
                    lifted_ms=event.at_ms,
                    at_once=fact.at_once,
                    lifts=limit.lifts + 1,
                )
                self._keep(lifted, event)
            case fleet.FleetStarted():
                for name, limit in self.limits.items():
                    self.limits[name] = structs.replace(limit, started_ms=event.at_ms)
            case fleet.AgentEnded() as fact:
                if fact.outcome not in _CONCLUSIVE:
                    self._end_probe(fact.run_id)
            case fleet.RunStopped() | fleet.WorkerReaped() as fact:
                self._end_probe(fact.run_id)
            case never:
                assert_never(never)

    def _hit(self, fact: LimitHit, event: Event) -> None:
        """Fold a hit: it starts a limit, extends it, or repeats what is known.

        Only a hit by the run that probes counts as another hit in a row, and makes the next wait
        longer.
        """
        limit = self._limit(fact)
        # A probe of another limit is over: its run met this one before it had a result.
        self._end_probe(fact.run_id, but=limit.key.path)
        hit = structs.replace(
            limit,
            ending=fact.ending,
            hit_ms=event.at_ms,
            resets_at_ms=fact.resets_at_ms,
            retry_after_seconds=fact.retry_after_seconds,
            times=limit.times + 1,
            found=fact.found,
            window=fact.window,
            agent=fact.agent,
            login=Credentials(host=fact.login_host, digest=fact.login),
            probe=None,
        )
        was_probe = limit.probe and limit.probe.run_id == fact.run_id
        # Agents that were at work when the limit came report it one by one: that is one hit.
        if limit.ending and not was_probe:
            hit = structs.replace(hit, times=limit.times, probe=limit.probe)
            if _outlasts(limit, hit):
                hit = limit
        self._keep(hit, event)

    def _end_probe(self, run_id: str, but: str = "") -> None:
        """Mark the probes of a run as over, except that of the key with the path `but`."""
        for path, limit in self.limits.items():
            if limit.probe and limit.probe.run_id == run_id and path != but:
                probe = structs.replace(limit.probe, over=True)
                self.limits[path] = structs.replace(limit, probe=probe)

    def _limit(self, fact: LimitHit | LimitProbed | LimitLifted) -> Limit:
        """The known state of the event's key; a new limit where there is none."""
        key = limit_key(fact)
        return self.limits.get(key.path, Limit(key=key))

    def _keep(self, limit: Limit, event: Event) -> None:
        """Keep a limit with the version of the event that made it."""
        self.limits[limit.key.path] = structs.replace(limit, version=event.ver)


def _outlasts(known: Limit, hit: Limit) -> bool:
    """Whether the known limit counts rather than the new hit.

    Of two equal endings the longer one counts: an account has several windows, and each of them
    closes it.
    """
    known_weight = _WEIGHT.get(known.ending, 0)
    hit_weight = _WEIGHT.get(hit.ending, 0)
    if known_weight != hit_weight:
        return known_weight > hit_weight
    until_ms = quota.believed_end_ms(known)
    return until_ms is not None and until_ms > max(hit.hit_ms, quota.believed_end_ms(hit) or 0)


def lift_entry(limit: Limit, *, reason: str, at_once: bool = True) -> Entry:
    """The entry that lifts a limit as it was read. Recording it raises Conflict on newer events.

    With `at_once` all lanes may start at the same time; otherwise they start one by one.
    """
    key = limit.key
    fact = LimitLifted(
        vendor=key.vendor, account=key.account, model=key.model, reason=reason, at_once=at_once
    )
    return Entry(stream=streams.limit(key), kind=fact.kind, body=fact, expect=limit.version)


def limit_key(fact: LimitHit | LimitProbed | LimitLifted) -> Key:
    """What the event's limit applies to."""
    return Key(vendor=fact.vendor, account=fact.account, model=fact.model)
