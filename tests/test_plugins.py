"""What other packages add is loaded in one way, whatever it is for."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos import plugins
from dos.errors import BadInput
from dos.unknown import Unknown, call_or_unknown

GROUPS = (plugins.AGENTS, plugins.EVIDENCE_SOURCES, plugins.JUDGES, plugins.PREDICATES)
MODULE = """
class Sound:
    word = "sound"

def alone(): return "a function is not called"

class Loud:
    def __init__(self): raise LookupError("nobody is at home")
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """One that adds the same to each group: two that can be loaded, and two that cannot."""
    points = "sound = guests:Sound\nalone = guests:alone\nloud = guests:Loud\ngone = guests:Gone\n"
    info = tmp_path / "guests-1.0.dist-info"
    info.mkdir()
    (tmp_path / "guests.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guests\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("".join(f"[{group}]\n{points}" for group in GROUPS))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "guests", raising=False)


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_loads_and_complains_alike(package, group):
    assert plugins.installed_names(group) == ["alone", "gone", "loud", "sound"]
    assert plugins.load(group, only="sound")[0][1].word == "sound"
    assert plugins.load(group, only="alone")[0][1]() == "a function is not called"
    assert plugins.load(group, only="nobody") == []

    said: list[str] = []
    assert list(plugins.load_others(group, {"alone"}, said.append)) == ["sound"]
    for name, why in (("gone", "AttributeError: "), ("loud", "LookupError: nobody is at home")):
        with pytest.raises(
            BadInput, match=f"the plugin {name!r} of {group} .* cannot be loaded: {why}"
        ) as raised:
            plugins.load(group, only=name)
        assert f"warning: {raised.value.message}" in said
    with pytest.raises(BadInput, match=r"'sound' .* is too quiet"):
        plugins.load(group, only="sound", flaw=lambda plugin: "is too quiet")


@given(
    st.sampled_from([ValueError, KeyError, RuntimeError, AssertionError, StopIteration, OSError]),
    st.text(),
)
def test_whatever_a_stranger_raises_is_a_value(kind, text):
    def stranger():
        raise kind(text)

    answer = call_or_unknown(stranger)
    assert isinstance(answer, Unknown) and answer.why.startswith(f"{kind.__name__}: ")
