"""A worker and a supervisor import nothing of dos once they hold a lease: an upgrade may have
replaced the files.
"""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import git
from patience import PATIENCE

import dos

ROOT = Path(dos.__file__).parent
LOAD = """
import sys
import dos.cli.fleet.{verb}
from dos.fleet.io.drive import preload_modules
preload_modules()
print(*(name for name in sys.modules if name.split(".")[0] == "dos"))
"""
BY_THE_STORE = {
    "dos.journal.backends.postgres"
}  # imported as the journal is opened, where it is in use


def loaded(verb: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOAD.format(verb=verb)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.split())


def imported_at_use(module: str) -> set[str]:
    """The modules of dos that are imported inside the functions of a module."""
    file = ROOT.joinpath(*module.split(".")[1:])
    source = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    found = set()
    for function in ast.walk(ast.parse(source.read_text())):
        if not isinstance(function, ast.FunctionDef):
            continue
        for each in ast.walk(function):
            if isinstance(each, ast.ImportFrom) and (each.module or "").split(".")[0] == "dos":
                names = [f"{each.module}.{name.name}" for name in each.names]
                found |= {each.module, *filter(is_module, names)}
    return found


def is_module(name: str) -> bool:
    file = ROOT.joinpath(*name.split(".")[1:])
    return file.is_dir() or file.with_suffix(".py").is_file()


def test_what_a_worker_and_a_supervisor_import_at_use_is_there_before_they_take_a_lease():
    for verb in ("worker", "up"):
        there = loaded(verb)
        missing = {
            module: left
            for module in there
            if (left := imported_at_use(module) - there - BY_THE_STORE)
        }
        assert missing == {}, verb


CONFIG = """[lanes]
concurrent = ["api"]

[lanes.trees]
api = ["api/**"]

# The setup stands for an upgrade, and removes what no walls would let it.
[sandbox]
level = "off"

[workers]
setup = "rm -rf {package}"
agent = "command"
command = ["sh", "-c", "echo 'A = 1' > api/a.py && git add api && git commit -qm A -m 'Unit: P/A1'"]
"""


@pytest.mark.soak
def test_a_worker_lands_its_unit_though_the_package_is_gone_once_it_has_its_lease(tmp_path):
    root, site = tmp_path / "repository", tmp_path / "site"
    shutil.copytree(ROOT, site / "dos", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "api").mkdir(parents=True)
    (root / "api" / "first.py").write_text("B = 1\n")
    (root / "docs").mkdir()
    (root / "docs" / "p-plan.md").write_text("# A plan\n\n## P A1: Write a\n- lane: api\n")
    (root / "dos.toml").write_text(CONFIG.format(package=site / "dos"))
    git("init", "--quiet", "--initial-branch", "main", ".", cwd=root)
    for key, value in (("user.name", "T"), ("user.email", "t@example.invalid")):
        git("config", key, value, cwd=root)
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message", "Begin", cwd=root)
    done = subprocess.run(
        [sys.executable, "-m", "dos", "worker", "--lane", "api"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert not (site / "dos").exists(), done.stderr
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "A = 1" in git("show", "main:api/a.py", cwd=root)
