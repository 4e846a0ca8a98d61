"""Another package that owns our names, as dos-kernel does: doctor says so, with the command that clears it."""

from pathlib import Path

from dos.config.lint import Severity
from dos.evidence import packages
from dos.sources.world import World


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
    assert packages.examine(World(tmp_path)) == []


def test_a_package_with_our_import_name_or_our_command_is_an_error(tmp_path, monkeypatch):
    installed(tmp_path, "dos-kernel", "dos/__init__.py,,\ndos/cli.py,,\n")
    installed(tmp_path, "another_dos", "another/__init__.py,,\n", "dos = another:main")
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = packages.examine(World(tmp_path))
    assert (found.kind, found.severity) == ("PACKAGES_CLASH", Severity.ERROR)
    assert found.what.startswith("another-dos, dos-kernel is installed beside dispatch-os")
    assert "pip uninstall --yes another-dos dos-kernel && " in found.fix
    assert found.fix.endswith("-m pip install --force-reinstall --no-deps dispatch-os")
