"""A fleet's days, told event by event, and what the budgets say about them."""

from told_events import Teller

from dos.agents.adapter import Usage
from dos.journal import fold, streams
from dos.journal.events.fleet import (
    AgentEnded,
    AgentStarted,
    IterationCommitted,
    RunBegun,
    RunStopped,
    UnitLanded,
)
from dos.journal.events.limits import BudgetPromised
from dos.limits import budget
from dos.limits.state.spend import FleetSpend

T = 1_800_000_000_000  # 2027-01-15 08:00 UTC
DAY = "2027-01-15"
DAY_MS = 86_400_000


class Story:
    def __init__(self):
        self.teller = Teller()
        self.now_ms = T

    def tell(self, fact, seconds=0.0, stream=""):
        self.now_ms += int(seconds * 1000)
        self.teller.tell(stream or streams.run(fact.run_id), fact, self.now_ms)
        return self

    def begin(self, run="R1", lane="api"):
        return self.tell(RunBegun(run_id=run, lane=lane, host="h", start_sha=""))

    def start(self, run="R1", lane="api", unit="U1", iteration=1, agent="a"):
        return self.tell(
            AgentStarted(
                run_id=run, lane=lane, unit=unit, iteration=iteration, agent=agent, base=""
            )
        )

    def end(
        self,
        run="R1",
        lane="api",
        unit="U1",
        iteration=1,
        usd=1.0,
        tokens=100,
        seconds=60.0,
        outcome="ok",
    ):
        usage = [Usage(model="m", input_tokens=tokens)] if tokens is not None else []
        fact = AgentEnded(
            run_id=run, lane=lane, unit=unit, iteration=iteration, outcome=outcome, exit_code=0,
            claim="",
            seconds=seconds, usage=usage, cost_usd=usd,
        )  # fmt: skip
        return self.tell(fact, seconds)

    def land(self, run="R1", lane="api", unit="U1", recognised=False):
        fact = UnitLanded(
            run_id=run,
            lane=lane,
            unit=unit,
            branch="main",
            base="",
            commit="c",
            recognised=recognised,
        )
        return self.tell(fact, stream=streams.unit(unit))

    def commit(self, run="R1", lane="api", unit="U1", iteration=1, outcome="SHIPPED"):
        return self.tell(
            IterationCommitted(
                run_id=run,
                lane=lane,
                iteration=iteration,
                unit=unit,
                outcome=outcome,
                action="continue",
                reason="",
            )
        )

    def stop(self, run="R1", lane="api", seconds=0.0):
        return self.tell(
            RunStopped(run_id=run, lane=lane, stop_reason="drained", needs="nobody", reason=""),
            seconds,
        )

    def promise(self, run="R1", lane="api", iteration=1, usd=0.0, seconds=3600.0):
        fact = BudgetPromised(
            run_id=run,
            lane=lane,
            iteration=iteration,
            usd=usd,
            until_ms=self.now_ms + int(seconds * 1000),
        )
        return self.tell(fact, stream=streams.BUDGET)

    def turn(self, number, **how):
        """One whole iteration that lands nothing."""
        return self.start(iteration=number).end(iteration=number, **how).commit(iteration=number)

    @property
    def folded(self):
        return self.fold(FleetSpend())

    def fold(self, state):
        return fold.fold(state, self.teller.happened)


def judged(ledger, budgets, **how):
    asked = {"run_id": "R1", "lane": "api", "now_ms": T} | how
    return budget.judge(ledger, budgets, **asked)
