"""The table [loop] of `dos.toml`: how often in a row something may go wrong."""

from typing import Literal

from dos.fields import Count, Table


class Loop(Table, frozen=True, kw_only=True):
    """[loop]: how often in a row something may go wrong before a loop stops."""

    gate_mode: Literal["hard", "soft", "drive"] = "hard"
    """What an empty gate does: `hard` replans; `soft`, and `drive`, stop."""
    max_unclear: Count = 3
    """Agents in a row that may end without a result."""
    max_dirty_zero: Count = 3
    """Finished iterations in a row that may land nothing."""
    max_overloaded: Count = 3
    """Iterations in a row that the provider may refuse as overloaded."""
    max_stale_stamp: Count = 3
    """Gates in a row that may find units marked as shipped which are not."""
    max_unproductive_replan_drains: Count = 2
    """Replans in a row that may leave the backlog empty."""
    max_unproductive_replan: Count = 2
    """Replans in a row that may change nothing."""
    max_adopt_wait: Count = 2
    """Waits in a row for work of another run."""
    max_race: Count = 2
    """Races in a row with another run for the same unit."""
    max_wait: Count = 3
    """Waits in a row for anything else."""
