"""A copy of what was there is no work; new work that looks like it is, and so is a wanted copy."""

import pytest
from growth import grows_less_than
from repository import Repository

from dos.verify.io import copies
from dos.verify.shipped import Answer
from dos.verify.work.request import Request

SHIPPED, UNPROVEN = Answer.SHIPPED, Answer.UNPROVEN
LOGIN = "def login(user):\n    found = users.get(user)\n    return found is not None\n"
SCRIPT = "export function login(user) {\n  return check('a', user);\n}\nlogin('b');\n"


@pytest.fixture
def repository(tmp_path):
    other = Repository(tmp_path / "work")
    other.commit("begin", {"src/a.py": LOGIN, "web/a.js": SCRIPT, "README.md": "hello\n"})
    return other


def check(repository, answer, *contradictions):
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.contradictions) == (answer, contradictions), verdict.reason
    return verdict


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/login.py", LOGIN),
        ("lib/auth/login.py", LOGIN),
        ("lib/a.py", LOGIN),
        ("tests/test_login.py", LOGIN),
        ("src/login.py", f'"""Log in."""\n\n# Ours.\n{LOGIN}'),
        ("src/login.py", LOGIN.replace("(user)", "(\n        user,\n    )")),
        ("src/login.py", LOGIN.replace("\n", "\r\n")),
        ("web/login.js", SCRIPT.replace("'", '"').replace("  ", "\t")),
    ],
)
def test_a_copy_is_no_work_however_it_is_dressed(repository, path, text):
    repository.commit("AUTH1: log in", {path: text})
    verdict = check(repository, UNPROVEN, "cosmetic_only")
    assert "only copies what was there before" in verdict.reason


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/login.py", LOGIN.replace("is not", "is")),
        ("src/login.py", LOGIN.replace("login", "log_in")),
        ("src/login.py", LOGIN + "login(0)\n"),
        ("web/login.js", SCRIPT.replace("'b'", "'c'")),
        ("src/login.pyx", LOGIN),
    ],
)
def test_what_differs_in_a_word_is_no_copy(repository, path, text):
    repository.commit("AUTH1: log in", {path: text})
    check(repository, SHIPPED)


def test_two_new_files_that_are_alike_are_no_copies_of_each_other(repository):
    text = LOGIN.replace("login", "log_in")
    repository.commit("AUTH1: log in", {"src/login.py": text, "lib/login.py": text})
    check(repository, SHIPPED)


def test_a_copy_beside_work_is_no_reason_to_deny_the_work(repository):
    repository.commit("AUTH1: log in", {"src/b.py": LOGIN, "src/a.py": LOGIN + "login(0)\n"})
    check(repository, SHIPPED)


def test_short_files_may_be_alike_by_chance(repository):
    repository.commit("begin", {"src/b/main.py": "from app import run\nrun()\n"})
    repository.commit("AUTH1: run c", {"src/c/main.py": "from app import run\nrun()\n"})
    check(repository, SHIPPED)


def test_settings_may_be_the_same_for_another_place(repository):
    repository.commit("begin", {"deploy/a.yaml": "kind: Pod\nname: a\nport: 1\nlogin: 2\n"})
    repository.commit("AUTH1: log in", {"test/a.yaml": "kind: Pod\nname: a\nport: 1\nlogin: 2\n"})
    check(repository, SHIPPED)


@pytest.mark.parametrize(
    ("title", "paths", "answer"),
    [
        ("log in", "src/**", UNPROVEN),
        ("log in", "src/login.py", SHIPPED),
        ("Vendor the login", "src/**", SHIPPED),
        ("Copy a.py to login.py", "src/**", SHIPPED),
        ("Extract the login", "src/**", SHIPPED),
        ("Add v2 of the login", "src/**", SHIPPED),
        ("Duplicate the login for admins", "src/**", SHIPPED),
        ("Add the admin login", "src/**", UNPROVEN),
    ],
)
def test_a_copy_that_was_asked_for_is_work(repository, title, paths, answer):
    plan = f"## AUTH AUTH1: {title}\n\n- paths: {paths}\n"
    repository.commit("declare", {"docs/auth-plan.md": plan})
    repository.commit("AUTH1: do it", {"src/login.py": LOGIN})
    assert repository.verify("AUTH", "AUTH1").answer is answer


def test_a_copy_is_found_among_many_files_by_its_name(repository):
    others = {f"lib/{number}.py": f"def part():\n    return {number}\n" for number in range(90)}
    repository.commit("more", {**others, "web/login.py": LOGIN.replace("user", "visitor")})
    repository.commit("AUTH1: log in", {"src/login.py": "# x\n" + LOGIN.replace("user", "visitor")})
    assert copies.MOST_READ < 90
    check(repository, UNPROVEN, "cosmetic_only")


def test_each_file_of_a_copied_folder_is_found(repository):
    others = {f"lib/{number}.py": f"def part():\n    return {number}\n" for number in range(90)}
    texts = {name: LOGIN.replace("user", name) for name in ("one", "two", "three")}
    old = {f"v1/{name}.py": text for name, text in texts.items()}
    repository.commit("more", {**others, **old})
    new = {f"v2/{name}.py": f"# new\n{text}" for name, text in texts.items()}
    repository.commit("AUTH1: log in", new)
    check(repository, UNPROVEN, "cosmetic_only")


def test_a_copy_is_found_among_many_folders_by_its_place(repository):
    others = {f"lib/{number}/a.py": f"a = {number}\n" for number in range(copies.MOST_FOLDERS)}
    repository.commit("more", {**others, "src/x/y/other.py": "import os\n" + LOGIN})
    repository.commit("AUTH1: log in", {"src/x/y/login.py": "import os  # a\n" + LOGIN})
    check(repository, UNPROVEN, "cosmetic_only")


@pytest.mark.parametrize(
    ("title", "answer"), [("log in", UNPROVEN), ("Rename a.js to login.js", SHIPPED)]
)
def test_a_file_that_was_renamed_and_laid_out_again_only_moved(repository, title, answer):
    one_line = SCRIPT.replace("\n", " ") + "\n"
    files = {"web/a.js": None, "web/login.js": one_line}
    repository.commit(f"AUTH1: {title}", files)
    assert repository.verify("AUTH", "AUTH1").answer is answer


def test_a_file_that_was_renamed_and_laid_out_again_is_followed(repository):
    work = SCRIPT.replace("login", "log_in")
    repository.commit("AUTH1: log in", {"web/login.js": work})
    repository.commit("tidy", {"web/login.js": None, "web/session.js": work.replace("'", '"')})
    check(repository, SHIPPED)


@pytest.mark.parametrize("piece", ["copy ", "port", "v1", "re-", "as well", "package "])
def test_titles_are_read_in_step_with_their_length(piece):
    def read(title):
        request = Request(title)
        path = "src/app/__init__.py"
        return request.may_be_about_copies, request.is_for_empty_file(path, is_declared=False)

    short, long = (piece * (length // len(piece)) for length in (4_000, 32_000))
    assert grows_less_than(40, read, short, long)
