"""The table [loop] of `dos.toml`: how often in a row something may go wrong."""

from typing import Literal

from dos.fields import Count, Table


class Loop(Table, frozen=True, kw_only=True):
    """[loop]: how often in a row something may go wrong before a loop stops."""

    gate_mode: Literal["hard", "soft", "drive"] = "hard"
    """When no unit can be offered: `hard` replans; `soft`, and its other name `drive`, stop."""
    max_unclear: Count = 3
    """Iterations in a row without a clear end after which the loop stops; 0 means 1."""
    max_dirty_zero: Count = 3
    """Finished iterations in a row that land nothing after which the loop stops; 0 means 1."""
    max_overloaded: Count = 3
    """Overloads and passing failures in a row after which the loop stops; 0 means 1."""
    max_stale_stamp: Count = 3
    """Gates in a row, BLOCKED or STALE-STAMP, after which the loop stops; 0 means 1."""
    max_unproductive_replan_drains: Count = 2
    """Fruitless replans of a drained backlog in a row before the loop stops; 0: no replan."""
    max_unproductive_replan: Count = 2
    """Replans in a row that add no unit after which the loop stops; 0 means 1."""
    max_adopt_wait: Count = 2
    """Unclear iterations in a row that do not count while a child of them lands commits."""
    max_race: Count = 2
    """Races in a row that may be lost before the next one counts as unclear."""
    max_wait: Count = 3
    """Waits in a row for a usage window or a failed start before the loop stops; 0: none."""
