"""Whom a process descends from, also when those on the way try to hide it."""

import os
import subprocess
import sys

import pytest

from dos.machine import process

ASK = "import os; from dos.machine.process import ancestors; print(*ancestors(os.getpid()))"
# Its first thread ends, and its second one starts the child: the system calls it a zombie.
WITHOUT_FIRST_THREAD = """
import ctypes, os, subprocess, sys, threading, time
def second():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    asked = subprocess.run([sys.executable, "-c", sys.argv[1]], capture_output=True, text=True)
    print(os.getpid(), asked.stdout)
    sys.stdout.flush()
    os._exit(0)
threading.Thread(target=second).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_parent_whose_first_thread_has_ended_is_an_ancestor_and_so_are_its_own():
    output = subprocess.run(
        [sys.executable, "-c", WITHOUT_FIRST_THREAD, ASK], capture_output=True, text=True
    ).stdout
    parent, *found = map(int, output.split())
    assert found[:2] == [parent, os.getpid()]


def test_when_one_ends_on_the_way_it_is_begun_again(monkeypatch):
    parents = iter([70, None, 80, 90, 1])
    monkeypatch.setattr(process, "_parent", lambda pid: next(parents))
    assert process.ancestors(60) == [80, 90]
