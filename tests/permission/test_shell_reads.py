"""Commands that change nothing are allowed for everybody, so they must be recognised."""

import pytest

from dos.permission.shell.reader import read_command

READS = r"""
ls
ls -la docs | head -5
cat docs/x
cat docs/x docs/y | grep -n a | sort -u | uniq -c | wc -l
cat < docs/x
cat <<< text
head -n 5 docs/x
tail -n +5 docs/x
grep -rn "a > b" docs
grep -E "(a|b)>$" docs/x
grep "it's" docs/x
rg -n 'fn \w+' api
rg -g '*.py' -l TODO
find . -name '*.py' -not -path './docs/*'
find docs -type f -newer api/x | head
fd -e py
git status
git status --short --branch
git diff
git diff HEAD~1 -- docs/x
git diff main...HEAD --stat
git log --oneline -20
git log -p --follow docs/x
git show HEAD:docs/x
git show --stat
git blame docs/x
git -C docs log
git ls-files
git rev-parse HEAD
git rev-list --count HEAD
git branch
git branch -a
git branch --show-current
git branch --list 'a*'
git tag -l
git remote -v
git config --get user.name
git config --list
git stash list
git stash show -p
git worktree list
git reflog
git grep -n x
git cat-file -p HEAD
git merge-base main HEAD
git apply --check a.patch
git clean -nd
git --no-pager log
git --no-pager diff
PAGER=cat git log
GIT_PAGER= git log
sed -n 1,5p docs/x
sed -n '/begin/,/end/p' docs/x
sed 's/write/word/g' docs/x
sed -e 's,/,w,' -e '$!d' docs/x
sed 's/[we]/x/2;s/a/e/I' docs/x
sed -n '$=' docs/x
sed 'y/we/ew/' docs/x
sed '/w docs/d' docs/x
sed 'a w docs/x' docs/y
awk '{print $1}' docs/x
awk -F: '$1 == "a" {n++} END {print n}' docs/x
sort -k2 -n docs/x
sort -t, -k1,1 docs/x
jq .a docs/x.json
yq .a docs/x.yml
diff -u docs/x api/x
test -f docs/x && echo yes || echo no
[ -f docs/x ] && echo yes
[[ -f docs/x ]]
[[ $x =~ a ]] || echo no
if [ -f a ]; then cat a; fi
for f in docs/*; do echo "$f"; cat $f; done
while read -r line; do echo "$line"; done < docs/x
case $x in a) echo a;; esac
echo a > /dev/null
echo a 2>/dev/null
echo a 2>&1 | cat
echo a >&2
echo a > /dev/stderr
ls docs 2>&1 1>/dev/null
exec 3>&-
echo "a > docs/x"
echo 'rm docs/x; > docs/y'
echo a \> docs/x
echo "$x" ${y} $1 $@ $#
echo "cost: 5$"
echo $((1 + 2))
echo $((a > 3))
echo "$(( (a > 3) * 2 ))"
x=$((1<<3))
x=5
printf '%s\n' a
cd docs && ls
cd docs; ls; cat x
(cd docs && cat x)
pushd docs; ls; popd
pwd
export A=1
env
env | grep A
which python
command -v python
type ls
id; whoami; uname -a; date; hostname
date +%s
sleep 1
true
exit 0
ps aux | grep python
timeout 5 cat docs/x
time ls
sudo cat docs/x
nice cat docs/x
bash -c 'cat docs/x | head'
/bin/cat docs/x
/usr/bin/git status
# rm docs/x
ls # > docs/x
ls \
  docs
tar tf a.tar
tar -tzf a.tgz
unzip -l a.zip
gzip -dc a.gz
zcat a.gz
curl -s https://h/x
curl -s https://h/x | jq .
curl -sS -H 'A: b' -X POST -d '{}' https://h
curl -o /dev/null -w '%{http_code}' https://h
curl -o - https://h
wget -qO- https://h
du -sh docs; df -h
wc -l docs/*
xxd docs/x | head
file docs/x
stat docs/x
tree -L 2
less docs/x
man ls
shuf -n 3 docs/x
md5sum docs/x
dd if=docs/x count=1
dos lease-lane live
dos verify PLAN UNIT
dos doctor
""".strip().replace("\\\n", "\0").split("\n")  # fmt: skip
BLOCKS = [
    "",
    "   \n\n",
    "cat <<'EOF'\nrm docs/x > docs/y $(rm z)\nEOF",
    "cat <<EOF\nplain > text\nEOF",
    "ls docs\ncat docs/x\n",
    "git log \\\n  --oneline",
    "echo 'a\n> docs/x\nb'",
    "for f in a b\ndo\n  cat $f\ndone",
    "if [ -f a ]\nthen\n  cat a\nfi",
]
# They print what a substitution gives: what it runs is read as well, but its result is not known.
SUBSTITUTES = ["echo $(date)", "cat $(git ls-files)", 'grep x "$(pwd)/docs/x"', "ls `pwd`"]


@pytest.mark.parametrize("command", [*READS, *BLOCKS])
def test_a_command_that_reads_is_known_to_read(command):
    command = command.replace("\0", "\\\n")
    found = read_command(command, base="/r", root="/r")
    assert (found.paths, found.unknown) == ((), "")


@pytest.mark.parametrize("command", SUBSTITUTES)
def test_what_a_substitution_gives_is_not_known_and_names_no_path(command):
    found = read_command(command, base="/r", root="/r")
    assert found.paths == () and found.unknown


def test_no_command_changes_what_another_one_means():
    for command in (
        "mv x",
        "cp -s x",
        "cp -b x",
        "ln -b",
        "install -b x",
        "patch --dry-run <<E\nE",
    ):
        read_command(command, base="/r", root="/r")
    for command in ("git stash list", "cp", "alias", "zcat a", "tar tf a"):
        found = read_command(command, base="/r", root="/r")
        assert (found.paths, found.unknown) == ((), ""), command
