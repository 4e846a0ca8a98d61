"""Each agent program as a pure module: how it is launched, what its lines mean, how it ended."""
