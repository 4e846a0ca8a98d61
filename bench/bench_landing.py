"""Landings per minute when 1, 4 and 16 lanes finish their work at once, as a ratio to one lane.

Real workers, real git, agents that do nothing but commit, and a test that takes a while: what is
measured is how landings get on beside one another. Units of a lane that is alone are landed one
after the other.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dos.world import World

CONFIG = """[lanes]
concurrent = {lanes}
autopick = {lanes}

[lanes.trees]
{trees}

[supervise]
target = {target}

[workers]
agent = "scripted"
command = ["{script}"]
test = "echo run >> {runs}; sleep {seconds}"
baseline = "off"
"""
WORK = [{"run": 'echo x > "$DOS_LANE/${DOS_UNIT#*/}.txt"'}, {"commit": "Work"}]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--lanes", type=int, nargs="+", default=[1, 4, 16])
    words.add_argument("--units", type=int, default=16, help="in all, spread over the lanes")
    words.add_argument("--seconds", type=float, default=0.3, help="that the test takes")
    args = words.parse_args()
    print(
        f"{'lanes':>5}  {'landed':>6}  {'per minute':>10}  {'ratio':>5}  {'tests':>5}  "
        f"{'died':>4}  checkout"
    )
    alone = 0.0
    for count in args.lanes:
        with tempfile.TemporaryDirectory(prefix="dos-bench-") as home:
            landed, per_minute, tests, died, left = measured(
                Path(home), count, args.units, args.seconds
            )
        alone = alone or per_minute
        ratio = per_minute / alone
        print(
            f"{count:>5}  {landed:>6}  {per_minute:>10.1f}  {ratio:>5.2f}  {tests:>5}  "
            f"{died:>4}  {left or 'nothing'}"
        )


def measured(
    home: Path, count: int, units: int, seconds: float
) -> tuple[int, float, int, int, str]:
    root, runs = home / "repository", home / "runs"
    made(root, home, count, units, seconds)
    environment = {**os.environ, "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "dos", "up", "--until-idle", "--plain", "--tick", "0.3"]
    subprocess.run(
        command, cwd=root, env=environment, check=True, capture_output=True, timeout=1_800
    )
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    with World(root) as world:
        events = list(world.journal.events())
    proven = [event.at_ms for event in events if event.kind == "work_measured"]
    landed = [event.at_ms for event in events if event.kind == "unit_landed"]
    died = sum(event.kind == "worker_reaped" for event in events)
    minutes = (max(landed) - min(proven)) / 60_000
    left = git(root, "status", "--porcelain").strip()
    return len(landed), len(landed) / minutes, len(runs.read_text().split()), died, left


def made(root: Path, home: Path, count: int, units: int, seconds: float) -> None:
    lanes = [f"lane{number}" for number in range(count)]
    script = home / "script.json"
    script.write_text(json.dumps({"*": [WORK]}))
    plan = "# Landings\n"
    for number in range(units):
        lane = lanes[number % count]
        plan += f"\n## LAND U{number}: x\n- lane: {lane}\n- paths: {lane}/**\n"
    for lane in lanes:
        (root / lane).mkdir(parents=True)
        (root / lane / "keep").touch()
    (root / "docs").mkdir()
    (root / "docs" / "land-plan.md").write_text(plan)
    trees = "\n".join(f'{lane} = ["{lane}/**"]' for lane in lanes)
    settings = {
        "lanes": json.dumps(lanes),
        "trees": trees,
        "target": count,
        "script": script,
        "seconds": seconds,
    }
    (root / "dos.toml").write_text(CONFIG.format(**settings, runs=home / "runs"))
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "config", "user.name", "Bench")
    git(root, "config", "user.email", "bench@example.invalid")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "Begin")


def git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    main()
