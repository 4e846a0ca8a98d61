"""The agents that a worker employs: who there is, who may be started now, and how one is run."""
