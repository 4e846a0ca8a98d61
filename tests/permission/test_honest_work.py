"""What honest agents do all day is not stopped, and what strays is seen: whole commands."""

import time

import pytest

from dos.permission.ask import Allow, Ask, Asker, AskerKind, Deny, Neighbour
from dos.permission.footprint import read_footprint
from dos.permission.io.resolve import resolve
from dos.permission.judge import judge
from dos.regions import region

DOCS = (Neighbour(lane="docs", region=region(["docs/**"])),)
HOLDER = Asker(
    kind=AskerKind.HOLDER, lane="api", region=region(["api/**", "tests/api/**"]), fence=7,
    neighbours=DOCS,
)  # fmt: skip
STRANGER = Asker(kind=AskerKind.STRANGER, neighbours=DOCS)
LOST = Asker(kind=AskerKind.LOST, lane="api", fence=7, neighbours=DOCS)
HONEST = [
    "pytest", "pytest -x -q tests/api", "python -m pytest tests/api 2>&1 | tail -20",
    "tox -e py311",
    "npm test", "npm ci", "npm install --save-dev jest", "npm run build -- --watch=false",
    "yarn install --frozen-lockfile", "pnpm -r test", "npx tsc --noEmit",
    "npx prettier --write api",
    "make", "make -j4 test", "cmake --build build", "cargo build", "cargo test -- --nocapture",
    "cargo fmt", "go test ./...", "go build ./... && go vet ./...", "mvn -q test", "gradle test",
    "pip install -e .", "pip install -r requirements.txt > /dev/null", "uv sync", "poetry install",
    "ruff check --fix api", "ruff format .", "black api tests/api", "mypy api", "eslint --fix api",
    "gofmt -w api", "docker build -t x .", "docker compose up -d", "bundle exec rspec",
    "dotnet test",
    "git add -A", "git add api tests/api", "git commit -m 'Add a thing'", "git commit -am x",
    "git commit --amend --no-edit", "git status && git diff --stat", "git log -3 > /dev/null",
    "git fetch origin", "git rebase main", "git merge --no-ff main", "git cherry-pick abc123",
    "git stash", "git stash pop", "git switch -c fix/a.b", "git checkout main",
    "git checkout v1.2.3",
    "git checkout HEAD~1 -- api/x.py", "git reset HEAD docs/x", "git reset --soft HEAD~1",
    "git reset", "git rm -r --cached docs", "git branch -D old", "git tag v1",
    "git push origin HEAD",
    "git mv api/a.py api/b.py", "git rm api/a.py", "git restore api", "git clean -fd api",
    "git -C api add .", "git worktree list", "git bisect run make test",
    "python script.py > /tmp/out.txt 2>&1", "cat api/x.py | head",
    "mkdir -p api/v2 && touch api/v2/a",
    "rm -rf api/__pycache__ api/build", "find . -name '*.pyc' -delete", "mkdir api", "rm -rf api",
    "find . -name __pycache__ -exec rm -rf {} +", "cp docs/template.md api/README.md",
    "cp -r docs/examples api/", "cp docs/a.md api", "mv api/a.py api/b.py",
    "ln -s ../docs api/docs",
    "sed -i 's/a/b/' api/*.py", "sed -i '' -e 's/a/b/' api/x.py", "perl -pi -e 's/a/b/' api/x.py",
    "grep -rl old api | xargs sed -i 's/old/new/g'", "for f in api/*.py; do sed -i 1d \"$f\"; done",
    "echo 'docs/x > y' >> api/notes.md", "printf '%s\\n' a > api/x", "tee api/x < docs/y",
    "cd api && pytest && echo ok > result.txt", "cd api; npm test; echo $? > status; cd ..",
    "(cd api && make) > /dev/null 2>&1", "pushd api && touch x && popd", "cd /tmp && touch x",
    "export PATH=$PWD/node_modules/.bin:$PATH && tsc", "source .venv/bin/activate && pytest",
    ". ./env.sh; make", "VAR=1 make test", "env CI=1 npm test", "timeout 60 pytest", "time make",
    "tmp=$(mktemp) && echo a > $tmp && cat $tmp", "x=$(cat docs/x); echo $x > api/x",
    "curl -sSfL https://h/x -o api/x", "curl -o /tmp/x https://h/x", "wget -qO /tmp/x https://h",
    "tar xzf /tmp/x.tgz -C api", "unzip -q a.zip -d api/vendor", "python - <<'E'\nprint(1 > 2)\nE",
    "cat > api/x.py <<'EOF'\nopen('docs/x', 'w').write('a > b')\nEOF",
    "cat <<'EOF' > api/run.sh\n#!/bin/sh\nrm -rf docs > docs/log\nEOF\nchmod +x api/run.sh",
    "git commit -m \"$(cat <<'EOF'\nFix the API (don't > write)\n\n- docs/x stays\nEOF\n)\"",
    "apply_patch <<'E'\n*** Begin Patch\n*** Update File: api/x\n@@\n-a > docs/x\n*** End Patch\nE",
    "git apply <<'E'\n--- a/api/q.sql\n+++ b/api/q.sql\n@@ -1,2 +1 @@\n--- docs/old\n keep\nE",
    "psql -c 'select 1 > 2'", "jq '.a > 1' api/x.json > /tmp/y", "awk '$1 > 5' docs/x",
    "[ 1 -gt 0 ] && [[ a > b ]] && echo yes", "echo $((3 > 2))", "if ((x > 3)); then echo; fi",
    "node -e 'console.log(1>2)'", "echo done >&2", "ls 2>/dev/null", "sleep 5 & wait", "kill %1",
    "rm -f /tmp/x.log", "rm -rf ~/.cache/pip", "touch ~/notes", "dos verify A A1", "wc -l docs/*",
]  # fmt: skip
STRAY = {
    "echo a > docs/x": "REGION_HELD",
    "echo a > top.txt": "OUT_OF_REGION",
    "pytest 2>&1 | tee build.log": "OUT_OF_REGION",
    "make && cp api/x docs/x": "REGION_HELD",
    "pytest; echo a >> web/x": "OUT_OF_REGION",
    "sed -i s/a/b/ api/x docs/y": "REGION_HELD",
    "git checkout -- docs/x": "REGION_HELD",
    "git mv api/x web/x": "OUT_OF_REGION",
    "rm -rf docs": "OUT_OF_REGION",
    "rm -rf .": "OUT_OF_REGION",
    "rm -rf *": "OUT_OF_REGION",
    "git -C docs rm x": "REGION_HELD",
    "cd docs && touch x": "REGION_HELD",
    "cd api && touch ../docs/x": "REGION_HELD",
    "bash -c 'touch docs/x'": "REGION_HELD",
    "eval 'touch docs/x'": "REGION_HELD",
    "echo $(touch docs/x)": "REGION_HELD",
    "touch api/{x,../docs/y}": "REGION_HELD",
    "touch do''cs/x": "REGION_HELD",
    "touch $'\\x64ocs/x'": "REGION_HELD",
    "touch docs/\\x": "REGION_HELD",
    "> docs/x": "REGION_HELD",
    "ln docs/x api/x": "REGION_HELD",
    "mv docs/x api/x": "REGION_HELD",
    "echo a > .git/hooks/pre-commit": "GIT_DIRECTORY",
    "rm -rf .git": "GIT_DIRECTORY",
}  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    for folder in ("api", "docs", "web", "tests/api"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def asked(tree, asker, command):
    read = read_footprint("Bash", {"command": command}, cwd=str(tree), root=str(tree))
    return judge(Ask(asker=asker, tool="Bash", footprint=resolve(read, tree)))


@pytest.mark.parametrize("command", HONEST)
def test_honest_work_is_not_stopped(tree, command):
    answer = asked(tree, HOLDER, command)
    assert isinstance(answer, Allow), answer


@pytest.mark.parametrize("command", STRAY)
def test_what_strays_is_refused_and_named(tree, command):
    answer = asked(tree, HOLDER, command)
    assert isinstance(answer, Deny) and answer.reason_class in (STRAY[command], "REGION_HELD")


@pytest.mark.parametrize("command", STRAY)
def test_who_holds_nothing_writes_nothing(tree, command):
    for asker in (STRANGER, LOST):
        assert isinstance(asked(tree, asker, command), Deny)


READS = ["cat docs/x", "git status", "git diff", "git log", "git show HEAD", "rg x", "head docs/x"]


@pytest.mark.parametrize("command", READS)
def test_everybody_may_read(tree, command):
    for asker in (STRANGER, LOST, HOLDER):
        assert isinstance(asked(tree, asker, command), Allow)


def test_a_judgment_takes_a_millisecond_of_the_processor(tree):
    """The mean of all of these, with the links on the disk."""
    best = float("inf")
    for _ in range(5):
        began = time.thread_time()
        for command in HONEST:
            asked(tree, HOLDER, command)
        best = min(best, time.thread_time() - began)
    assert best / len(HONEST) < 0.001
