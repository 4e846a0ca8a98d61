"""The profile for macOS, as text: it cannot be tried here."""

from dos.sandbox.build import Folders, build
from dos.sandbox.settings import Sandbox
from dos.sandbox.support import Support


def test_a_profile_denies_writes_and_allows_the_folders_of_the_lane():
    folders = Folders(lane='/Users/u/"lane"', tmp="/tmp/t", home="/Users/u/h", readable=("/opt/x",))
    walls = build(Sandbox(level="auto"), Support(system="darwin"), folders)
    program, option, text = walls.program
    assert (program, option, walls.active) == ("sandbox-exec", "-p", "program sandbox-exec")
    lines = text.splitlines()
    assert lines.index("(deny file-write*)") < lines.index(
        '(allow file-write* (subpath "/Users/u/\\"lane\\""))'
    )
    assert '(allow file-write* (subpath "/private/tmp/t"))' in lines
    assert '(allow file-read-data (subpath "/opt/x"))' in lines
    assert text.count("(") == text.count(")")


def test_required_walls_are_refused_on_macos():
    missing = Support(system="darwin", landlock_missing="darwin does not have it")
    walls = build(Sandbox(level="required"), missing, Folders(lane="/l", tmp="/t", home="/h"))
    assert "darwin does not have it" in walls.refusal
