"""The reader of shell commands never fails, is quick, and is right: beside it a real shell runs."""

import pytest
from amounts import long
from growth import grows_less_than
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scratch_shell import check, scratch_in

from dos.permission.shell.reader import read_command


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return scratch_in(tmp_path_factory.mktemp("scratch"))


# Names as a shell has them: each writes one path.
NAMES = st.sampled_from(
    [
        "api/a.txt", "docs/x.md", "docs/y.md", "docs/new", "api/new", "docs/sub/z.md", "top", "new",
        "'s p'", '"s p"', "s\\ p", "./docs//x.md", "api/../docs/x.md", "api/out/x.md",
        "api/in/c.txt",
        "api/out/new", "api/deep/../x.md", "../root/docs/x.md", "'do'cs/x.m\"d\"", "$'docs/x.md'",
        "docs", "api/sub", "docs/sub/", "api/out", "api/", ".", "docs/*.md", "docs/*", "*", "t?p",
        "docs/{x,y}.md", "{docs/new,api/new}", "$x", '"$x"', "${x}/n", "missing/new", "-n", "./-n",
        "#n", "docs/#n", "a=b", "'$x'", "\\$x", "~", "'~'", "]]", "{", "!",
    ]
)  # fmt: skip
TEXT = st.sampled_from(["a", "'a > b'", '"it\'s > $x"', "$((1 > 2))", "\\>", "'#'", '"foo$"', ""])
REDIRECTS = st.sampled_from(
    [">", ">>", ">|", "&>", "&>>", "2>", "1>", "<>", "> ", ">&", "2>&1 >", "3>", "{fd}>",
    "2>/dev/null >"]
)  # fmt: skip
ONE = [
    "rm {0}", "rm -f {0}", "rm -rf {0}", "rm -r -- {0}", "rmdir {0}", "unlink {0}", "touch {0}",
    "mkdir {0}", "mkdir -p {0}/a/b", "truncate -s 0 {0}", "chmod +x {0}", "chmod -w {0}",
    "chmod 600 {0}", "sed -i s/o/0/ {0}", "sed -i -e 1d {0}", "sed -n p {0}", "sed -i.bak 1d {0}",
    "sed 's/o/0/w docs/new' {0}", "sed -n 'w docs/new' {0}", "sed -n wdocs/new {0}", "sed '$d' {0}",
    "sed '1e touch docs/new' {0}", "sed -n '/o/{{p;w docs/new\n}}' {0}", "sed 'y/w/e/' {0}",
    "sed -i '' -e 1d {0}", "sed -s --in-pl 1d {0}", "cat {0}", "cat < {0}", "ls {0}", "head -1 {0}",
    "wc -l {0}", "grep -c o {0}", "sort {0}", "tail -n +1 {0}", "stat {0}", "test -f {0}",
    "[ -f {0} ]", "[[ -f {0} ]]", "[[ a > {0} ]]", "[ a > {0} ]", "du {0}", "file {0}",
    "diff {0} top",
    "gzip {0}", "gzip -k {0}", "gzip -c {0}", "bzip2 {0}", "xz {0}", "dd if=top of={0}",
    "dd if={0}", "tee {0} < top", "tee -a {0} < top", "find {0}", "find {0} -type f",
    "find {0} -delete", "find {0} -name '*.md' -delete", "find {0} -exec rm {{}} +",
    "find {0} -fprint docs/new", "awk 1 {0}", "awk '{{print > \"docs/new\"}}' {0}",
    "awk 'BEGIN{{system(\"touch docs/new\")}}' {0}", "perl -pi -e s/o/0/ {0}", "od {0}",
    "md5sum {0}",
    "tar cf docs/new.tar {0}", "tar cfC docs/new.tar api .", "patch {0} < docs/p.patch",
    "patch -p1 < docs/p.patch", "patch < docs/p.patch", "cd {0}", "cd {0} && touch n",
    "cd {0}; touch n", "cd {0} || touch n", "(cd {0} && touch n)", "pushd {0} && touch n && popd",
    "cd {0} && cd .. && touch n", "cd {0}/.. && touch n", "cd {0} | touch n", "cd {0} & touch n",
    "eval rm {0}", "bash -c 'rm \"$0\"' {0}", "sh -c 'touch n' {0}", "xargs rm < {0}",
    "x={0}; rm $x",
    "for f in {0}; do rm $f; done", "for f in {0}; do cat $f; done", "while false; do rm {0}; done",
    "if cd {0}; then touch n; fi", "case {0} in *) touch n;; esac", "f() {{ rm {0}; }}; f",
    "f() {{ cd {0}; }}; f; touch n", "env rm {0}", "env A=1 touch {0}", "A=1 touch {0}",
    "timeout 5 touch {0}", "nice touch {0}", "command touch {0}", "\\touch {0}", "'touch' {0}",
    "/usr/bin/touch {0}", "! touch {0}", "time touch {0}", "{{ touch {0}; }}", "( touch {0} )",
    "echo $(touch {0})", "echo `touch {0}`", "echo \"$(touch {0})\"", "cat <(touch {0})",
    "y=$(touch {0})", "y=(a b); touch {0}", "echo ${{y:-$(touch {0})}}", "touch {0} # > docs/new",
    "exec > {0}", "exec 3> {0}; echo a >&3", "ln -s {0} n && touch n", "ln {0} n; echo a > n",
    "shred -n 1 {0}", "split -l 1 {0} docs/", "sort -o {0} top", "sort -uo{0} top",
    "sort --outp {0} top", "printf a > {0}", "cat > {0} <<'E'\ntouch docs/new\nE",
    "cat <<E > {0}\na\nE", "cat <<-E\n\ttouch docs/new\n\tE\ntouch {0}", "cat <<< a > {0}",
    "cat <<E\n$(touch {0})\nE", "cat <<'E' | tee {0}\n)\nE", "bash <<'E'\ntouch {0}\nE",
    "python3 - <<'E'\nopen('docs/new', 'w')\nE", "env -C docs touch {0}", "alias ls=rm; ls {0}",
    "PATH=. touch {0}", "hash -p /bin/rm ls; ls {0}", "shuf -o {0} top", "uniq top {0}",
    "history -w {0}", "let 'x[$(touch {0})]=1'", "test -v 'x[$(touch {0})]'",
    "ed -s {0} <<E\n1d\nw\nE",
    "((x > 1)); touch {0}", "for ((i=2;i>1;i--)); do touch {0}; done", "install -m 644 top {0}",
]  # fmt: skip
TWO = [
    "cp {0} {1}", "cp -r {0} {1}", "cp -t {1} {0}", "cp {0} top {1}", "cp -a {0} {1}",
    "cp -l {0} {1}",
    "mv {0} {1}", "mv -t {1} {0}", "mv -f {0} {1}", "mv {0} top {1}", "ln {0} {1}", "ln -s {0} {1}",
    "ln -sf {0} {1}", "install {0} {1}", "install -D {0} {1}", "rm {0} {1}", "touch {0} {1}",
    "cat {0} > {1}", "cat {0} | tee {1}", "tee {0} {1} < top", "cat {0} {1}", "sort {0} -o {1}",
    "uniq {0} {1}", "cd {0} && touch {1}", "cd {0}; touch {1}", "(cd {0}; rm {1}); touch n",
    "cd {0} && cp x.md {1}", "cp -b {0} {1}", "cp --parents {0} {1}", "mv -b {0} {1}",
    "rm {0} > {1}",
    "chmod --reference {0} {1}", "find {0} {1} -delete", "dd if={0} of={1}", "sed -i 1d {0} {1}",
    "sed 1d {0} > {1}", "diff {0} {1}", "cmp {0} {1}", "tar cf {1} {0}", "zip {1} {0}",
    "touch -r {0} {1}", "mv {0} n && touch n/x {1}", "cp -a {0} n && touch n/x {1}",
    "cp -s {0} {1}", "env -C {0} touch {1}", "mkdir -p {0} {1}",
]  # fmt: skip
JOINS = [
    "{0} && {1}", "{0}; {1}", "{0} || {1}", "{0} | {1}", "{0}\n{1}", "({0}); {1}",
    "{{ {0}; }}; {1}",
    "{0} & {1}", "if {0}; then {1}; fi", "({0} && {1})", "{0} |& {1}",
    "if {0}; then :; else {1}; fi",
    "for i in 1 2; do {0} && {1}; done", "case a in a) {0};; b) {1};; esac", "! {0} && {1}",
    "{{ {0}; }} | {1}", "{0} \\\n && {1}", "{0} && (cd docs; {1})", "f() {{ {0}; }}; f && {1}",
    "cd docs && {0} && {1}", "cd api && ({0}) && {1}", "{0} > docs/new && {1}",
    "[[ -n a ]] && {0}; {1}",
]  # fmt: skip
simple = st.one_of(
    st.builds(lambda form, name: form.format(name), st.sampled_from(ONE), NAMES),
    st.builds(lambda form, *names: form.format(*names), st.sampled_from(TWO), NAMES, NAMES),
    st.builds(lambda text, into, name: f"echo {text} {into}{name}", TEXT, REDIRECTS, NAMES),
)
commands = st.recursive(
    simple,
    lambda inner: st.builds(
        lambda form, one, two: form.format(one, two), st.sampled_from(JOINS), inner, inner
    ),
    max_leaves=3,
)
# Pieces that mean one thing or another by what stands around them.
PIECES = [
    "'", '"', "$'", '$"', "\\", "\\\n", "`", "$(", "${", "${x:-", "}", "$((", "((", "))", "(", ")",
    "[[", "]]", "[", "]", "{", "<<E", "<<'E'", "<<-E", "\nE\n", "\n", "\t", "\r", "\r\n", "\xa0",
    "#",
    " #", ";", ";;", "&", "&&", "|", "||", "!", "=", "x=", "<", "<<<", "<(", ">(", " > ", ">", ">>",
    "&>", ">&", "2>", "<>", "3>", "{fd}>", "echo ", "touch ", "cat ", "rm ", "cd ", "docs/new",
    "api/n",
    " docs/x.md", " n", "-n", "$x", "$1", "$", "~", "*", "{a,b}", "if ", "then ", "fi",
    "for i in a; do ",
    "done", "case a in a) ", "esac", " a) ", "f() {", "time ", " ", " ", " ", "'a'", '"a"', "E",
]  # fmt: skip
soups = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=long(150, 20_000))
@given(command=commands)
@example("cd missing; rm top")
@example("! cd api/a.txt && rm api/a.txt")
@example("cat <<E\na\\\nE\ntouch docs/new\nE")
def test_every_file_that_a_command_changes_is_in_its_footprint(scratch, command):
    check(scratch, "bash", command)


@settings(max_examples=long(150, 20_000))
@given(soup=soups)
@example('echo "$\'"; touch docs/new; echo "\'"')
@example('echo "a$"; touch docs/new; echo "b"')
@example("echo ${x:-'}'} ; touch docs/new #'")
@example(">>$\\\n$>> $")
@example("cat <\\\n<E\n'\nE\ntouch docs/new #'")
def test_quotes_hide_no_command(scratch, soup):
    check(scratch, "bash", soup)


@pytest.mark.soak
@settings(max_examples=long(1_500, 100_000))
@given(command=commands)
def test_every_file_that_a_command_changes_is_in_its_footprint_many_times(scratch, command):
    check(scratch, "bash", command)


@pytest.mark.soak
@settings(max_examples=long(2_000, 100_000))
@given(soup=soups)
def test_quotes_hide_no_command_many_times(scratch, soup):
    check(scratch, "bash", soup)


def test_the_law_is_not_kept_by_knowing_nothing(scratch):
    """Of the commands that write by their operands most are known in full."""
    forms = [form.format("docs/new") for form in ONE if form.count("{0}") == 1]
    known = [form for form in forms if not scratch.footprint(form).unknown]
    assert len(known) > len(forms) / 3


@given(text=st.text() | soups | st.lists(soups, max_size=4).map("\n".join))
def test_any_text_can_be_read(text):
    found = read_command(text, base="/r", root="/r")
    assert all(isinstance(path, str) for path in found.paths)
    again = read_command(text, base="/r", root="/r")
    assert again == found


GROWING = {
    **{repr(piece): piece for piece in PIECES},
    "commands": "touch docs/a && ", "words": "a ", "quotes": "'a'\"b\"$x ",
    "heredocs": "cat <<E\na\nE\n",
    "parameters": "${x:-${y}}", "substitutions": "$(a) ", "nested": "$(", "arithmetic": "((1+(2)))",
    "open heredocs": "cat <<E ", "braces": "{a,b}", "globs": "*?[a]", "sed": "sed 's/a/b/;p' x; ",
    "assignments": "a=1 b=2 ", "conditions": "[[ a && b ]] ; ", "half conditions": "[[ a ; ",
    "functions": "f() { a; } ; ", "keywords": "if then else ", "subshells": "(a) ",
    "cd": "cd a && ",
    "wrappers": "env sudo ", "options": "-a --b=c ", "slashes": "a/../", "shells": "bash -c 'a' ; ",
    "escaped": "\\a", "cases": "case a in a) b;; esac; ", "words of sed": "sed -e s/a/b/ -e p x;",
    "git": "git -C a log ; ", "diffs": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    "backslashes": "\\\\",
    "loops": "for x in a; do b; done; ", "choices": "case a in (b|c) d;; e) f;; esac; ",
    "evaluated": "$((x + 1)) $[1] ", "subscripts": "${x[y]:1} a[b]=1 ", "open subscripts": "a[",
    "choices of words": "x{a,b}y ", "choices in choices": "{a,{b,", "escapes": "$'\\x41\\u0042' ",
    "loops without a name": "for do ", "patterns": "case a in b|",
    "split heredocs": "cat <<E\na\\\n",
}  # fmt: skip
BEFORE = ("", "echo ", "sed -n '", "cat <<E\n", "git apply <<'E'\n", "rm ")


def takes_time_by_length(text, longest):
    """Whether eight times the text takes about eight times as long to read."""
    texts = [text * (size // len(text)) for size in (longest // 8, longest)]
    return grows_less_than(24, lambda each: read_command(each, base="/r", root="/r"), *texts)


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_length(name):
    assert takes_time_by_length(GROWING[name], 12_000)


@pytest.mark.soak
@pytest.mark.parametrize("before", BEFORE)
def test_time_grows_with_the_length_also_of_the_longest(before):
    for piece in GROWING.values():
        texts = [before + piece * (size // len(piece)) for size in (12_000, 96_000)]
        reads = lambda each: read_command(each, base="/r", root="/r")  # noqa: E731
        assert grows_less_than(24, reads, *texts), (before, piece)
