"""What it takes to believe that a unit shipped."""

from typing import Literal

from dos.fields import Table


class Policy(Table, frozen=True, kw_only=True):
    """[verify]: how much has to stand behind a unit, and whether its checks have to be green."""

    require: Literal["named", "live", "witnessed", "attested"] = "live"
    ci: Literal["advise", "require"] = "advise"
    non_git_oracle: str = ""

    @property
    def ci_required(self) -> bool:
        return self.ci == "require"
