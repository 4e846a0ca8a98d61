"""A lead that has nothing but the tools runs a real fleet: it starts, waits, checks and stops."""

import pytest
from mcp_server import Server
from sample_repository import Repository

pytestmark = pytest.mark.soak  # the agents and their checks take seconds
LONGEST_WAITS = 20


def test_a_lead_starts_waits_verifies_and_stops(tmp_path):
    repository = Repository(tmp_path)
    with Server(repository.root, "--allow-fleet") as server:

        def ask(tool, **arguments):
            server.call(1, tool, **arguments)
            result = server.next()["result"]
            assert not result["isError"], result
            return result["structuredContent"]

        assert ask("verify", plan="DEMO", phase="A1")["verdict"] == "NOT_SHIPPED"
        position = ask("wait", seconds=0)["position"]
        started = ask("start", target=2)
        assert started["exit_code"] == 0, started
        landed: list[str] = []
        try:
            for _ in range(LONGEST_WAITS):
                news = ask("wait", until="landed", after=position, seconds=50)
                position = news["position"]
                landed += [entry["unit"] for entry in news["landed"]]
                if len(landed) == 3:
                    break
            assert sorted(landed) == ["DEMO/A1", "DEMO/A2", "DEMO/B1"]
            assert ask("verify", plan="DEMO", phase="A1")["shipped"]
            assert ask("claim", unit="DEMO/B1")["exit_code"] == 0
            assert ask("start")["exit_code"] in (0, 1)  # it runs already
            assert {row["lane"] for row in ask("fleet")["rows"]} == {"one", "two"}
            assert ask("log", lane="one")["lines"]
            assert ask("why", run="one")["steps"]
            assert ask("costs", by="lane")["total"]["landed_units"] == 3
        finally:
            stopped = ask("stop")
        assert stopped["exit_code"] in (0, 1), stopped
        assert server.close() == 0
        assert "Traceback" not in server.printed
