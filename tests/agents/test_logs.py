"""The logs of a lane: so many runs, and of a run that goes on for weeks so many agents."""

import os

from dos.agents.io import logs

RUN = "RID-000000000000001"


def test_a_run_keeps_the_logs_of_its_last_agents_with_what_was_put_aside_of_them(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(logs, "STARTS_KEPT", 2)
    folder = tmp_path / "logs" / "one"
    folder.mkdir(parents=True)
    names = [
        f"{RUN}-1.1.log",
        f"{RUN}-1.1.older.log",
        f"{RUN}-2.1.log",
        f"{RUN}-9.1.log",
        f"{RUN}-10.1.log",
    ]
    others = [f"{RUN}.worker.log", "RID-000000000000002-1.1.log", "a note of mine.log"]
    for age, name in enumerate([*others, *names]):
        (folder / name).touch()
        os.utime(folder / name, (1000 + age, 1000 + age))
    (folder / f"{RUN}-10.1.older.log").touch()
    logs.prune_run(tmp_path, "one", RUN)
    left = {file.name for file in folder.iterdir()}
    assert left == {*others, f"{RUN}-9.1.log", f"{RUN}-10.1.log", f"{RUN}-10.1.older.log"}
