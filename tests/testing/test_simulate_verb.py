"""`dos simulate`: what it prints, and what its exit code says."""

import subprocess
import sys

import pytest
from msgspec import json


def simulate(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dos", "simulate", *words], capture_output=True, text=True
    )


@pytest.mark.soak
def test_one_line_says_what_was_done():
    ran = simulate("--seeds", "20", "--jobs", "1")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("20 seeds in ") and ran.stdout.rstrip().endswith("0 failing")


def test_json_counts_the_faults_and_refusals():
    ran = simulate("--seeds", "30", "--jobs", "2", "--json")
    data = json.decode(ran.stdout)
    assert data["seeds"] == 30 and not data["failed"] and data["failures"] == []
    assert data["fired"] > 0 and data["counts"]


@pytest.mark.soak
def test_a_failing_seed_prints_the_words_that_run_it_again():
    found = simulate("--seeds", "50", "--jobs", "1", "--plant", "no-key")
    assert found.returncode == 1
    typed = next(
        line for line in found.stdout.splitlines() if line.startswith("dos simulate --seed ")
    )
    again = simulate(*typed.split()[2:])
    assert again.returncode == 1
    assert found.stdout.partition(typed)[2] == again.stdout.partition(typed)[2] != ""


def test_a_seed_runs_on_sqlite_too():
    ran = simulate("--seed", "3", "--store", "sqlite", "--json")
    assert ran.returncode == 0 and json.decode(ran.stdout)["events"] > 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seeds", "0"), "--seeds is 0"),
        (("--seeds", "-3"), "--seeds is -3"),
        (("--seed", "-1"), "--seed is -1"),
        (("--jobs", "0"), "--jobs is 0"),
        (("--store", "paper"), "there is no store 'paper'"),
        (("--plant", "list"), "there is no plant 'list'"),
    ],
)
def test_bad_words_are_named_and_nothing_runs(words, said):
    ran = simulate(*words)
    assert ran.returncode == 2
    assert said in ran.stderr and "Traceback" not in ran.stderr
