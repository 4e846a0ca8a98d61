"""How an agent ended, under the names that adapters of other packages import; see
`dos.agents.adapter`."""

from dos.agents.adapter import LIMITS, PERSONAL, AgentOutcome, Ending, Found, Outcome, Scope, Usage

__all__ = ["LIMITS", "PERSONAL", "AgentOutcome", "Ending", "Found", "Outcome", "Scope", "Usage"]
