"""What shell commands write: each line of the tables is a command, and after two dots its paths.

`?` after the paths says that there may be more: it never denies a holder, and is never a read.
"""

import pytest

from dos.permission.shell.reader import read_command

# Everything that they write is known.
KNOWN = r"""
echo a > docs/x                               :: docs/x
echo a >docs/x                                :: docs/x
echo a >> docs/x                              :: docs/x
echo a >| docs/x                              :: docs/x
echo a &> docs/x                              :: docs/x
echo a &>> docs/x                             :: docs/x
echo a >& docs/x                              :: docs/x
echo a 2> docs/x                              :: docs/x
echo a 2>docs/e 1>docs/o                      :: docs/e docs/o
cat 0<> docs/x                                :: docs/x
exec {fd}> docs/x                             :: docs/x
exec 3> docs/x; echo a >&3                    :: docs/x
> docs/x                                      :: docs/x
> docs/x echo a                               :: docs/x
cat <<< text > docs/x                         :: docs/x
echo a > 'do'cs/"x y"z                        :: docs/x\ yz
echo a > docs/\x                              :: docs/x
echo a > $'docs/\x78'                         :: docs/x
echo a > ./docs//x                            :: docs/x
echo a > /r/docs/x                            :: docs/x
echo a > /tmp/x                               :: /tmp/x
echo a > ~/x                                  :: ~/x
echo a > '~/x'                                :: ./~/x
echo a | tee docs/x                           :: docs/x
echo a | tee -a docs/x docs/y > /dev/null     :: docs/x docs/y
echo ]] > docs/x                              :: docs/x
grep "foo$" api/x > docs/y                    :: docs/y
echo "it's $'"; rm docs/x; echo "'"           :: docs/x
echo ${x:-'}'} ; rm docs/x #'                 :: docs/x
rm docs/x ]]                                  :: docs/x ]]
cp api/x docs/                                :: docs/x
cp api/x docs/y                               :: docs/y
cp -r api/x api/y docs                        :: docs/x docs/y
cp -t docs api/x                              :: docs/x
cp --target-directory=docs api/x              :: docs/x
cp --target docs api/x                        :: docs/x
cp api/a.txt .                                :: a.txt
cp docs/x                                     ::
rsync docs/                                   ::
mv docs/x api/                                :: docs/x api/x
mv docs/x docs/y                              :: docs/x docs/y
mv -t api docs/x                              :: docs/x api/x
rm docs/x                                     :: docs/x
rm -rf docs/x docs/y                          :: docs/x docs/y
rm -- -x                                      :: -x
rmdir docs                                    :: docs
unlink docs/x                                 :: docs/x
shred -u docs/x                               :: docs/x
mkdir -p docs/a/b                             :: docs/a/b
mkdir -m 755 docs                             :: docs
touch docs/x docs/y                           :: docs/x docs/y
touch -t 202601010000 docs/x                  :: docs/x
touch -r api/x docs/x                         :: docs/x
truncate -s 0 docs/x                          :: docs/x
chmod +x docs/x                               :: docs/x
chmod -x docs/x                               :: docs/x
chmod -R 644 docs                             :: docs
chmod --reference api/x docs/x                :: docs/x
chown -R me docs                              :: docs
install -m 644 api/x docs/x                   :: docs/x
install -d docs/a docs/b                      :: docs/a docs/b
rsync -aP api/ docs/                          :: docs
rsync -a api/x docs                           :: docs
rsync -a --backup-dir=docs/b api/ web/        :: docs/b web
rsync -a --remove-source-files docs/ api/     :: api docs
dd if=/dev/zero of=docs/x count=1             :: docs/x
sed -i s/a/b/ docs/x                          :: docs/x
sed -i -e s/a/b/ -e s/c/d/ docs/x docs/y      :: docs/x docs/y
sed -ni 1p docs/x                             :: docs/x
sed --in-place s/a/b/ docs/x                  :: docs/x
sed --in-pl s/a/b/ docs/x                     :: docs/x
sed -i '' s/a/b/ docs/x                       :: docs/x
sed -i '' -e s/a/b/ docs/x                    :: docs/x
sort -o docs/x api/x                          :: docs/x
sort -uodocs/x api/x                          :: docs/x
sort --output=docs/x api/x                    :: docs/x
sort --outp docs/x api/x                      :: docs/x
sort {-o,docs/x} a                            :: docs/x
git diff {--output=docs/x,HEAD}               :: docs/x
uniq api/x docs/x                             :: docs/x
curl -o docs/x https://h                      :: docs/x
curl -sSLo docs/x https://h                   :: docs/x
curl --output docs/x https://h                :: docs/x
curl -D docs/h https://h                      :: docs/h
curl --trace docs/t https://h                 :: docs/t
wget -O docs/x https://h                      :: docs/x
wget -P docs https://h                        :: docs
tar cf docs/x.tar api                         :: docs/x.tar
tar -czf docs/x.tgz api                       :: docs/x.tgz
tar cfC docs/x.tar api .                      :: docs/x.tar
gzip docs/x                                   :: docs/x docs/x.gz
gunzip docs/x.gz                              :: docs/x.gz docs/x
git mv docs/x api/x                           :: docs/x api/x
git rm -r docs                                :: docs
git restore docs/x                            :: docs/x
git restore --source HEAD~1 docs/x            :: docs/x
git checkout -- docs/x                        :: docs/x
git checkout main -- docs/x                   :: docs/x
git checkout HEAD docs/x                      :: docs/x
git checkout .                                :: .?
git checkout docs/x.md                        :: docs/x.md?
git clean -fd docs                            :: docs
git stash push docs/x                         :: docs/x
git stash -- docs                             :: docs
git -C docs restore x                         :: docs/x
git diff --output=docs/x                      :: docs/x
git log --output docs/x                       :: docs/x
git worktree add ../w                         :: /r/../w?
git clone https://h/r docs/r                  :: docs/r
cd docs && echo a > x                         :: docs/x
cd docs && cd sub && echo a > x               :: docs/sub/x
cd docs && (cd sub && ls) && echo a > x       :: docs/x
cd docs/.. && echo a > x                      :: x
cd docs && echo a > ../api/x                  :: docs/../api/x
cd /r/docs && touch x                         :: docs/x
cd /tmp && touch x                            :: /tmp/x
cd && touch x                                 :: ~/x
cd docs | touch x                             :: x
(cd docs && touch x) && touch y               :: docs/x y
cd docs && git rm x                           :: docs/x
cd docs && sed -i s/a/b/ x | cat              :: docs/x
env -C docs touch x                           :: docs/x
env touch docs/x                              :: docs/x
env A=1 touch docs/x                          :: docs/x
A=1 B=2 touch docs/x                          :: docs/x
sudo -u me touch docs/x                       :: docs/x
timeout 5 touch docs/x                        :: docs/x
timeout -k 5 -s KILL 10 touch docs/x          :: docs/x
nice -n 5 nohup touch docs/x                  :: docs/x
command touch docs/x                          :: docs/x
\rm docs/x                                    :: docs/x
'rm' docs/x                                   :: docs/x
/bin/rm docs/x                                :: docs/x
/usr/local/bin/rm docs/x                      :: docs/x
bash -c 'rm docs/x'                           :: docs/x
bash -lc "cd docs && rm x"                    :: docs/x
sh -c 'sh -c "rm docs/x"'                     :: docs/x
true && rm docs/x || rm docs/y; rm docs/z     :: docs/x docs/y docs/z
ls & rm docs/x                                :: docs/x
! rm docs/x                                   :: docs/x
if true; then rm docs/x; else rm docs/y; fi   :: docs/x docs/y
while false; do rm docs/x; done               :: docs/x
for i in 1 2; do echo a; done > docs/x        :: docs/x
for ((i=9;i>3;i--)); do rm docs/x; done       :: docs/x
case a in a) rm docs/x;; b) rm docs/y;; esac  :: docs/x docs/y
{ rm docs/x; }                                :: docs/x
( rm docs/x )                                 :: docs/x
rm docs/x # and no more > docs/y              :: docs/x
rm docs/a#b                                   :: docs/a#b
touch docs/{a,b}                              :: docs/a docs/b
touch docs/{a,b{c,d}}                         :: docs/a docs/bc docs/bd
[ a > docs/x ]                                :: docs/x
(cd docs && case a in a) rm x;; esac)         :: docs/x
if [[ -f a ]]; then rm docs/x; fi             :: docs/x
[[ -f a ]] > docs/x                           :: docs/x
find docs -delete                             :: docs
find docs api -type f -delete                 :: docs api
find . -fprint docs/x                         :: docs/x
time rm docs/x                                :: docs/x
x=$((1 > 2)); rm docs/x                       :: docs/x
echo "a > b" 'c > d' > docs/x                 :: docs/x
echo a\
b > docs/x
"""
KNOWN_BLOCKS = {
    "cat > docs/x <<'EOF'\nrm api/y > api/z $(rm q)\nEOF": ["docs/x"],
    "cat <<EOF > docs/x\nplain\nEOF\nrm docs/y": ["docs/x", "docs/y"],
    "cat <<-EOF\n\tbody\n\tEOF\nrm docs/x": ["docs/x"],
    "cat <<A <<B\n1\nA\n2\nB\nrm docs/x": ["docs/x"],
    'cat <<"E O"\nrm api/x\nE O\nrm docs/x': ["docs/x"],
    "cat <<\\EOF\n$(rm api/x)\nEOF\nrm docs/x": ["docs/x"],
    "cat <<EOF\na\\\nEOF\nrm api/x\nEOF\nrm docs/x": ["docs/x"],
    "cat <<EOF\r\nx\r\nEOF\r\nrm docs/x": ["docs/x"],
    "r\\\nm docs/x": ["docs/x"],
    "rm \\\n  docs/x \\\n  docs/y": ["docs/x", "docs/y"],
    "cd docs &&\n  rm x": ["docs/x"],
    "bash <<'EOF'\nrm docs/x\nEOF": ["docs/x"],
    "rm a\u00a0docs/x": ["a\u00a0docs/x"],
    "rm docs/\u00fc": ["docs/\u00fc"],
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: docs/x\n@@\n-a\n+b\n"
    "*** Move to: docs/y\n*** Add File: ~/z\n+x\n*** Delete File: docs/{a,b}\n"
    "*** End Patch\nEOF": ["docs/x", "docs/y", "./~/z", "docs/{a,b}"],
    "git apply <<'EOF'\ndiff --git a/docs/x b/docs/x\n--- a/docs/x\n+++ b/docs/x\n"
    "@@ -1,2 +1,2 @@\n--- a/api/no\n+++ b/api/no\n keep\nEOF": ["docs/x"],
    "git apply <<'EOF'\ndiff --git a/docs/e b/docs/e\nnew file mode 100644\n"
    "index 0000000..e69de29\nEOF": ["docs/e"],
    "git apply <<'EOF'\ndiff --git a/docs/a b/api/b\nsimilarity index 100%\n"
    "rename from docs/a\nrename to api/b\nEOF": ["docs/a", "api/b"],
    "git apply -p2 <<'EOF'\n--- a/b/docs/x\n+++ a/b/docs/x\n@@ -1 +1 @@\n-a\n+b\nEOF": ["docs/x"],
    'git apply <<\'EOF\'\n--- "a/docs/\\303\\274"\n+++ "b/docs/\\303\\274"\n'
    "@@ -1 +1 @@\n-a\n+b\nEOF": ["docs/\u00fc"],
}
# There may be more than these.
UNKNOWN = r"""
python - <<EOF > docs/x               :: docs/x
python -c "open('docs/x','w')"        ::
node -e "fs.writeFileSync()"          ::
perl -pi -e s/a/b/ docs/x             :: docs/x
perl -i.bak -pe s/a/b/ docs/x         :: docs/x
perl -e 'print'                       ::
awk '{print > "docs/x"}' a            ::
awk 'BEGIN{system("rm x")}'           ::
awk '@include "evil"' a               ::
awk -f prog a                         ::
gawk -i inplace '{print}' docs/x      ::
gawk -ddocs/x 'BEGIN{}'               ::
sed -f script a                       ::
sed 's/a/b/w docs/x' a                ::
sed 's/a/b/wdocs/x' a                 ::
sed 's_a_b_w docs/x' a                ::
sed -n '$w docs/x' a                  ::
sed -n wdocs/x a                      ::
sed '1e rm docs/x' a                  ::
sed 's/.*/date/e' a                   ::
sed -ne '/a/{p;w docs/x' -e '}' a     ::
sed -i.bak s/a/b/ docs/x              :: docs/x
sed "s/a/$b/" a                       ::
xargs rm < list                       ::
ls | xargs -I{} rm {}                 ::
find . -name x -delete                ::
find docs -name x -delete             :: docs
find . -exec rm {} +                  :: .
find . -exec sh -c 'rm $1' _ {} \;    ::
find $x                               ::
fd -x rm                              ::
fd -e py -X rm                        ::
rg --pre ./evil x                     ::
yq -i '.a=1' docs/x.yml               :: docs/x.yml
tree -o docs/x                        ::
shuf -o docs/x a                      ::
less -o docs/x                        ::
file -C -m magic                      ::
history -w docs/x                     ::
jobs -x rm docs/x                     ::
hash -p ./evil ls                     ::
mapfile -C 'rm docs/x' -c 1 a < b     ::
test -v 'a[$(rm docs/x)]'             ::
printf -v 'a[`rm docs/x`]' 1          ::
let 'a[$(rm docs/x)]=1'               ::
sort --compress-program ./evil a      ::
sort $options a                       ::
sort * a                              ::
git diff $x                           ::
vim -c ':w docs/x' a                  :: a
ex -s docs/x                          :: docs/x
rename s/a/b/ docs/x                  :: docs/x
tar xf a.tar                          ::
tar xzf a.tgz -C docs                 :: docs
tar xfC a.tar docs                    :: docs
tar cf /dev/null --checkpoint-action=exec=evil a ::
tar tf a --to-command=evil            ::
tar cf docs/x.tar --remove-files docs :: docs/x.tar
unzip a.zip -d docs                   :: docs
unzip a.zip                           ::
zip -r docs/x.zip api                 :: docs/x.zip docs/x.zip.zip
zip -m docs/x.zip api                 :: docs/x.zip docs/x.zip.zip
curl -O https://h/x                   ::
curl -T a file:///r/docs/x            ::
curl -K config                        ::
wget https://h/x                      ::
patch -p1 < a.patch                   ::
patch docs/x < a.patch                :: docs/x
git apply a.patch                     ::
git apply --index a.patch             ::
git am a.patch                        ::
git reset --hard                      ::
git reset docs/x                      ::
git stash                             ::
git stash pop                         ::
git clean -fd                         ::
git checkout main                     ::
git checkout v1.2                     ::
git checkout release-1.2              ::
git checkout -b fix/a.b               ::
git checkout -t origin/fix.me         ::
git restore :/docs                    ::
git rm --pathspec-from-file=list      ::
git pull                              ::
git merge main                        ::
git rebase main                       ::
git switch main                       ::
git commit -m x                       ::
git add docs/x                        ::
git -c core.pager=evil log            ::
git --git-dir=evil log                ::
git ls-remote --upload-pack=evil .    ::
git fsck --lost-found                 ::
git diff --ext-diff                   ::
git grep -O./evil x                   ::
git config alias.x '!rm'              ::
git branch new                        ::
git tag v1                            ::
git remote add x y                    ::
git submodule update                  ::
git apply --stat --build-fake-ancestor=docs/x p ::
rm $x                                 ::
rm docs/$x docs/y                     :: docs/y
rm "$x"/y                             ::
$x docs/y                             ::
rm */x                                ::
rm docs/*                             :: docs/*
rm docs/*.md                          :: docs/*.md
cp docs/*.md                          :: docs/*.md
rsync docs/*                          :: docs/*
touch docs/{1..3}                     ::
touch 'a'/{b,c}                       ::
rm ~other/x                           ::
echo $(rm docs/x)                     :: docs/x
echo "$(rm docs/x)"                   :: docs/x
echo `rm docs/x`                      :: docs/x
cat <(rm docs/x)                      :: docs/x
echo a > >(cat > docs/x)              :: docs/x
x=(a $(rm docs/x))                    :: docs/x
echo ${x:-$(rm docs/x)}               :: docs/x
echo ${x@P}                           ::
(( $(rm docs/x) ))                    :: docs/x
echo $(( $(rm docs/x) ))              :: docs/x
eval rm docs/x                        :: docs/x
eval "$x"                             ::
bash -c "$x"                          ::
bash script.sh                        ::
source script.sh                      ::
. ./script.sh                         ::
./build.sh                            ::
./cat docs/x                          ::
api/bin/ls                            ::
PATH=api/bin:$PATH ls                 ::
export PATH=api/bin:$PATH; ls         ::
env PATH=api/bin ls                   ::
LD_PRELOAD=./evil.so cat a            ::
GIT_EXTERNAL_DIFF=./evil git diff     ::
GIT_DIR=docs git status               ::
PAGER=./evil git log                  ::
BASH_ENV=./evil bash -c ls            ::
HOME=/r/docs; echo a > ~/x            :: ~/x
PS4='$(rm docs/x)' bash -xc ls        ::
alias ls=rm; ls docs/x                ::
ls() { rm docs/x; }; ls               :: docs/x
function ls { rm docs/x; }; ls        :: docs/x
trap 'rm docs/x' EXIT                 ::
env -S 'rm docs/x'                    :: docs/x
ssh host rm docs/x                    ::
watch rm docs/x                       ::
cd docs; rm x                         :: docs/x
cd docs || exit 1; rm x               :: docs/x
cd missing; cd api; rm x              :: missing/api/x
if cd docs; then rm x; fi             :: docs/x
for d in a b; do cd docs && rm x; done :: docs/x
{ cd docs; } | cat; rm x              :: docs/x
true || cd docs && rm x               ::
! cd docs && rm x                     ::
rm api/x | if cd docs; then touch n; fi :: api/x
ls | { cd docs; touch n; }; touch m      ::
cd $x && rm y                         ::
cd - && rm y                          ::
CDPATH=docs cd sub && rm x            :: sub/x
pushd docs; popd; rm x                :: x
(cd docs; rm x); rm y                 :: docs/x y
ln -s ../docs api/d; echo a > api/d/x :: api/d api/d/x
ln docs/x api/y                       :: docs/x api/y
mv api/out n && touch n/x             :: api/out n n/x
cp -a api/out n && touch n/x          :: n n/x
echo a >! docs/x                      :: !
echo ${(e)x}                          ::
cp -l docs/x api/y                    :: docs/x api/y
[[ a > docs/x ]]                      ::
((x > 3))                             ::
make test                             ::
pytest -q                             ::
npm test                              ::
cargo build                           ::
sh -c 'touch docs/{a,b}'              :: docs/a docs/b
coproc rm docs/x                      ::
dos init                              ::
dos config set a b                    ::
"""
UNKNOWN_BLOCKS = {
    "cat <<EOF\n$(rm docs/x)\nEOF": [],
    "cat <\\\n<EOF\n'\nEOF\nrm docs/x #'": [],
    "echo a > $\\\nx": [],
    "cat <<EOF\n`rm docs/x`\nEOF": [],
    "cat <<$x\nfoo\n$x\nrm docs/x": [],
    "python - <<'EOF'\nopen('docs/x', 'w')\nEOF": [],
    "ed docs/x <<'EOF'\nw docs/y\nEOF": ["docs/x"],
    "git apply docs.patch <<'EOF'\n--- a/api/x\n+++ b/api/x\n@@ -1 +1 @@\n-a\n+b\nEOF": [],
    "patch <<'EOF'\n--- a/api/x\n+++ b/api/x\n@@ -1 +1 @@\n-a\n+b\nEOF": [],
    "patch -p1 <<'EOF'\n--- a/api/x\n+++ b/api/x\n@@ -1 +1 @@\n-a\n+b\nEOF": ["api/x"],
    "git apply <<'EOF'\nnonsense\nEOF": [],
    "sudo -s <<'EOF'\nrm docs/x\nEOF": [],
}


def rows(table):
    for row in table.strip("\n").replace("\\\nb", "").split("\n"):
        command, dots, paths = row.partition("::")
        if dots:
            yield command.rstrip(), [path.replace("\0", " ") for path in
                                     paths.replace("\\ ", "\0").split()]  # fmt: skip


def written(command):
    return read_command(command, base="/r", root="/r")


KNOWN_ROWS = [*rows(KNOWN), *KNOWN_BLOCKS.items()]
UNKNOWN_ROWS = [*rows(UNKNOWN), *UNKNOWN_BLOCKS.items()]


@pytest.mark.parametrize(("command", "paths"), KNOWN_ROWS, ids=[row[0] for row in KNOWN_ROWS])
def test_what_is_written_is_known(command, paths):
    found = written(command)
    is_open = bool(paths) and paths[-1].endswith("?")
    assert list(found.paths) == [path.rstrip("?") for path in paths]
    assert bool(found.unknown) == is_open


@pytest.mark.parametrize(("command", "paths"), UNKNOWN_ROWS, ids=[row[0] for row in UNKNOWN_ROWS])
def test_what_may_write_more_says_so_and_keeps_what_is_known(command, paths):
    found = written(command)
    assert found.unknown
    assert list(found.paths) == paths
