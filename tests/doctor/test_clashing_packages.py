"""Another package that owns our names, as dos-kernel does: doctor says so, with the command that
clears it.
"""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pip
import pytest
from patience import PATIENCE

from dos.config.lint import Severity
from dos.doctor.subjects import machine
from dos.world import World


def installed(folder: Path, name: str, files: str, scripts: str = "") -> None:
    """A distribution, as pip leaves it."""
    info = folder / f"{name.replace('-', '_')}-0.30.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.30.0\n")
    (info / "RECORD").write_text(files)
    if scripts:
        (info / "entry_points.txt").write_text(f"[console_scripts]\n{scripts}\n")


def test_ours_alone_is_no_clash(tmp_path, monkeypatch):
    installed(tmp_path, "dosage", "dosage/__init__.py,,\ndos.txt,,\n", "dosage = dosage:main")
    monkeypatch.syspath_prepend(tmp_path)
    assert machine.examine_packages(World(tmp_path)) == []


def test_a_package_with_our_import_name_or_our_command_is_an_error(tmp_path, monkeypatch):
    installed(tmp_path, "dos-kernel", "dos/__init__.py,,\ndos/cli.py,,\n")
    installed(tmp_path, "another_dos", "another/__init__.py,,\n", "dos = another:main")
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = machine.examine_packages(World(tmp_path))
    assert (found.kind, found.severity) == ("PACKAGES_CLASH", Severity.ERROR)
    assert found.what.startswith("another-dos, dos-kernel is installed beside dispatch-os")
    assert "pip uninstall --yes another-dos dos-kernel && " in found.fix
    assert found.fix.endswith("-m pip install --force-reinstall --no-deps dispatch-os")


def wheel(folder: Path, name: str, text: str) -> None:
    """A package that installs the import `dos` and the command `dos`."""
    stem = f"{name.replace('-', '_')}-0.30.0"
    info = f"{stem}.dist-info"
    files = {
        "dos/__init__.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.30.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ndos = dos:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as packed:
        for path, content in files.items():
            packed.writestr(path, content)


@pytest.mark.soak
def test_what_is_printed_removes_the_other_package_and_brings_ours_back(tmp_path, monkeypatch):
    """Typed in an environment of its own, with packages from a folder in place of an index."""
    for folder in ("wheels", "tools"):
        (tmp_path / folder).mkdir()
    wheel(tmp_path / "wheels", "dispatch-os", "ours = True\n")
    wheel(tmp_path / "wheels", "dos-kernel", "ours = False\n")
    (tmp_path / "tools" / "pip").symlink_to(Path(pip.__file__).parent)
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    settings = {"PYTHONPATH": str(tmp_path / "tools"), "PIP_NO_INDEX": "1", "PIP_NO_COMPILE": "1"}
    settings |= {"PIP_FIND_LINKS": str(tmp_path / "wheels"), "PIP_CONFIG_FILE": os.devnull}

    def typed(line: str) -> None:
        done = subprocess.run(
            ["sh", "-c", line],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, (line, done.stderr)

    typed(f"{python} -m pip install dispatch-os dos-kernel")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(sys, "executable", str(python))
    (found,) = machine.examine_packages(World(tmp_path))
    typed(found.fix)
    assert machine.examine_packages(World(tmp_path)) == []
    assert (site / "dos" / "__init__.py").read_text() == "ours = True\n"
    assert (tmp_path / "env" / "bin" / "dos").is_file()
