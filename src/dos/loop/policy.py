"""[loop]: how often in a row something may go wrong, as it is written in `dos.toml`."""

from typing import Literal

from dos.fields import Count, Table


class Loop(Table, frozen=True, kw_only=True):
    """How often in a row something may go wrong before a loop stops; `hard` replans at an empty gate, `soft` stops."""

    gate_mode: Literal["hard", "soft", "drive"] = "hard"
    max_unclear: Count = 3
    max_dirty_zero: Count = 3
    max_overloaded: Count = 3
    max_stale_stamp: Count = 3
    max_unproductive_replan_drains: Count = 2
    max_unproductive_replan: Count = 2
    max_adopt_wait: Count = 2
    max_race: Count = 2
    max_wait: Count = 3
