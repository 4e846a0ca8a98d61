"""Admission predicates that other packages add: they can refuse more, and never less."""

import sys

import pytest

PLUGIN = """
from dos.lanes.admission import AdmissionVerdict

class Freeze:
    name = "freeze"
    def __call__(self, asked, lease, config):
        if asked.lane == "api":
            return AdmissionVerdict.refuse("the api is frozen until Monday", "FROZEN")
        return AdmissionVerdict.admit()

def broken(asked, lease, config):
    raise RuntimeError("out of order")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A package with entry points, as pip would leave it."""

    def make(*points: str) -> None:
        site = tmp_path / "site"
        info = site / "freezer-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "freezer.py").write_text(PLUGIN)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: freezer\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[dos.predicates]\n" + "\n".join(points) + "\n")
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, "freezer", raising=False)

    return make


def test_an_installed_predicate_refuses_what_was_free(dos, install):
    assert dos("arbitrate", "--lane", "api", "--exact").code == 0
    install("freeze = freezer:Freeze")
    refused = dos("arbitrate", "--lane", "api", "--exact")
    assert refused.code == 1
    assert "FROZEN: the api is frozen until Monday" in refused.out
    assert dos("arbitrate", "--lane", "docs", "--exact").code == 0


def test_the_journal_asks_it_too(dos, install):
    install("freeze = freezer:Freeze")
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "me").code == 1
    assert dos("lease-lane", "acquire", "--lane", "docs", "--owner", "me").code == 0


def test_one_that_raises_refuses_and_says_so(dos, install):
    install("broken = freezer:broken")
    refused = dos("arbitrate", "--lane", "docs", "--exact")
    assert refused.code == 1
    assert "out of order" in refused.out and "fail-closed" in refused.out


def test_one_that_cannot_be_loaded_is_an_error(dos, install):
    install("absent = nowhere:at_all")
    refused = dos("arbitrate", "--lane", "docs")
    assert refused.code == 2
    assert "'absent'" in refused.err and "nowhere" in refused.err


def test_doctor_names_them(dos, install):
    install("freeze = freezer:Freeze")
    assert "disjointness, self-modify, freeze" in dos("doctor").out
