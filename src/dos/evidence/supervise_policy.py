"""How many workers are kept alive, by which rules: the policy of `[supervise]`."""

from dos.config.fleet import Supervise
from dos.plans.ticks import SupervisePolicy


def policy(table: Supervise, *, target: int | None = None, max_concurrency: int | None = None) -> SupervisePolicy:
    """What is given here goes before what is written there."""
    halt_after = table.spin_halt_after
    return SupervisePolicy(
        target=table.target if target is None else target,
        count_spinning_as_alive=table.count_spinning_as_alive,
        reap_stalled=table.reap_stalled,
        spin_halt_after_ms=None if halt_after is None else round(halt_after.total_seconds() * 1000),
        worker_launch_template=table.worker_launch_template,
        max_concurrency=table.max_concurrency if max_concurrency is None else max_concurrency,
    )
