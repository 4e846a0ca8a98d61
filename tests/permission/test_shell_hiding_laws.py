"""Nothing is hidden from the reader by broken grammar, evaluated text or disguised words.

Each law makes commands that try to, and a real shell shows what they change.
"""

import re
import subprocess

import pytest
from amounts import long
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scratch_shell import check, scratch_in

from dos.permission.shell.syntax.expansion import expand_braces
from dos.permission.shell.syntax.scanner import read_script

# Commands of the grammar: W writes, H does nothing.
FORMS = [
    "for x in a b ; do W ; done", "for x ; do W ; done", "for x do W ; done",
    "for x in a ; { W ; }",
    "for (( i=0 ; i<1 ; i++ )) ; do W ; done", "for ((i=0;i<1;i++)) { W ; }",
    "if H ; then W ; elif H ; then W ; else W ; fi", "if ((1)) then W ; fi",
    "if [[ a ]] then W ; fi",
    "while H ; do W ; break ; done", "until ! H ; do W ; break ; done", "{ W ; }", "( W )",
    "case a in a ) W ;; b ) W ;; esac", "case a in ( a | b ) W ;; * ) H ;; esac",
    "case a\nin\na) W\n;;\nesac", "select x in a ; do W ; break ; done", "H && W || W", "! W",
    "time W", "H | W", "H & W", "[[ a == b ]] || W", "(( 1 )) && W", "f ( ) { W ; } ; f",
    "function f { W ; } ; f", "cat <<E\nb\nE\nW", "cat <<-E\n\tb\n\tE\nW", "cat <<'E'\nW\nE\nH",
    "( for case in a ; do : ; done ; W )", "cat <<E ; W\nb\nE", "{ H ; W ; } | cat",
    "if ( H ) then W ; fi", "x=( a b ) ; W", "echo $( W )", "echo ${x:-`W`}", "[[ a && b ]] && W",
    "echo a # W\nW", "case a in a) ;& b) W ;; esac", "coproc W", "time -p W", "cd api ; W",
    "bash -c 'W'", "case case in case ) W ;; esac", "for do in do ; do W ; done", "echo if ; W",
    "echo for x do ; W", "if H\nthen\nW\nfi", "for x\nin a\ndo W\ndone", "! cd missing && W",
]  # fmt: skip
TORN = [
    "for ", "x ", "in ", "do ", "done ", "; ", "\n", "(( ", ")) ", "((1)) ", "[[ ", "]] ", "a ",
    "if ", "then ", "fi ", "else ", "elif ", "case ", "esac ", ") ", "( ", "{ ", "} ", ";; ", "| ",
    "& ", "&& ", "! ", "time ", "function ", "select ", "while ", "\\\n", "# ", "<<E ", "\nE\n",
    "'", '"', "$(", "`", "W ", "H ", "=", "x=( ", "2>&1 ", "> ", "<", "${", "$((", "}", " ", "\t",
    "-p ",
]  # fmt: skip
WRITES = ["touch docs/new", "> docs/new", "rm top", "echo a >docs/q"]


@st.composite
def torn(draw):
    """A form, or one inside another, from which pieces are gone and to which others came."""
    text = draw(st.sampled_from(FORMS))
    if draw(st.booleans()):
        text = text.replace("W", draw(st.sampled_from(FORMS)), 1)
    pieces = re.findall(r"[^ \n]+ ?|\n| ", text)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(pieces)))
        pieces[place : place + draw(st.integers(0, 1))] = draw(
            st.lists(st.sampled_from(TORN), max_size=1)
        )
    text = "".join(pieces)
    return text.replace("W", draw(st.sampled_from(WRITES))).replace("H", "echo a")


EVIL = "'a[$(touch docs/new)]'"
SET = [
    "x=V; C", "read x <<< V; C", "for x in V; do C; done", "printf -v x %s V; C", ": ${x:=V}; C",
    "export x=V; C", "x=(V); C", "mapfile -t x <<< V; C", "y=V; x=$y; C", "y=V; x=y; C",
    "IFS=, read -a x <<< V; C", "set -- V; x=$1; C", 'x="a[\\$(touch docs/new)]"; C',
    "x=$'a[\\x24(touch docs/new)]'; C", "[[ V =~ .* ]]; x=$BASH_REMATCH; C", "x[0]=V; C",
    "while read x; do C; done <<< V", "x=1; x+=V; C", "export x=1 y=V; x=y; C", "x=${y:-V}; C",
    "y=V; z=y; x=z; C", "declare -A m; m[k]=V; x=${m[k]}; C", "case V in *) x=V; C;; esac",
    "x=5; C", "cat <<E\n${x:=V}\nE\nC", "getopts :a: y -a; x=V; C",
]  # fmt: skip
EVALUATE = [
    "echo $((x))", "((x))", "[[ x -eq 1 ]]", "[[ $x -eq 1 ]]", "[[ -v $x ]]", "echo ${a[x]}",
    "echo ${a[$x]}", "a[x]=1", "a[$x]=1", 'test -v "$x"', "[ -v $x ]", "let x", "declare -i y=$x",
    'unset "$x"', "read $x <<< 1", 'printf -v "$x" 1', "echo ${!x}", "echo ${PWD:x}", "echo $[x]",
    "for ((i=x;i<1;i++)); do break; done", "case $((x)) in a) ;; esac", "[ $x -eq 1 ]", "echo $x",
    "declare a[x]=1", "[[ -n ${a[x]} ]]", "cat <<E\n$((x))\nE", "cat < $((x))", "y=${x:0:x}",
    "echo $((1 ? x : 0))", "a=([x]=1)", "echo ${a[y[x]]}", "echo $((a[x]))", "[[ ! -v $x ]]",
    'bash -c "echo \\$(($x))"', "y=$x; ((y))", "echo ${x:x:x}", "[ ! $x ]", 'wait -p "$x"',
]  # fmt: skip
evaluated = st.builds(
    lambda form, act: form.replace("C", act).replace("V", EVIL),
    st.sampled_from(SET),
    st.sampled_from(EVALUATE),
)

# Programs and words, of which each may be written in many ways.
PROGRAMS = [
    "find docs/x.md -delete", "find . -fprint docs/new", "sort -o docs/new top",
    "sort --output=docs/new top", "sed -i s/x/y/ docs/x.md", "sed --in-place s/x/y/ docs/x.md",
    "sed -n wdocs/new top", "dd of=docs/new if=top", "uniq top docs/new", "tar cf docs/new top",
    "tar -c -f docs/new top", "tee docs/new", "gzip docs/x.md", "gzip -k docs/x.md", "xz -tz top",
    "bzip2 -tz docs/x.md", "shuf -o docs/new top", "tree -o docs/new", "xxd top docs/new",
    "touch docs/new", "rm -f docs/x.md", "cp top docs/new", "mv top docs/", "ln -s ../top docs/new",
    "install top docs/new", "truncate -s0 top", "chmod 600 top", "env touch docs/new",
    "nice touch docs/new", "timeout 5 touch docs/new", "command touch docs/new", "exec touch n",
    "cat top", "uniq -c top", "head -c5 top", "git diff --no-index --output=docs/new top docs/x.md",
    "printf -v x a", "eval touch docs/new",
]  # fmt: skip
MORE = ["--", "-", "-n", "-c", "-r", "-t", "-z", "-k", "-d", "-o", "-f", "-i", "top", "docs/y.md"]
BEFORE = ["env", "command", "nice", "A=1", "time", "!", "builtin", "exec", "timeout"]
DISGUISES = [
    lambda part: part, lambda part: part, lambda part: f"'{part}'", lambda part: f'"{part}"',
    lambda part: "".join(f"\\{letter}" for letter in part), lambda part: f"\\\n{part}",
    lambda part: "$'" + "".join(f"\\x{ord(letter):02x}" for letter in part) + "'",
    lambda part: "$'" + "".join(f"\\u{ord(letter):04x}" for letter in part) + "'",
    lambda part: "$'" + "".join(f"\\{ord(letter):03o}" for letter in part) + "'",
    lambda part: f"{{{part},}}", lambda part: f"{{{part},{part}}}", lambda part: f"{{{part},-}}",
    lambda part: f"{part[0]}{{{part[1:]},}}", lambda part: f"${{zz:-{part}}}",
    lambda part: f"[{part}]", lambda part: f'$"{part}"',
]  # fmt: skip


@st.composite
def disguised(draw):
    """A command whose words are quoted, escaped and made of braces, piece by piece."""
    words = draw(st.sampled_from(PROGRAMS)).split()
    if draw(st.booleans()):
        words.insert(draw(st.integers(0, len(words))), draw(st.sampled_from(MORE)))
    if draw(st.integers(0, 5)) == 0:
        words.insert(0, draw(st.sampled_from(BEFORE)))
    written = []
    for word in words:
        size = draw(st.sampled_from([2, 3, 9, 99]))
        parts = [word[place : place + size] for place in range(0, len(word), size)]
        written.append("".join(draw(st.sampled_from(DISGUISES))(part) for part in parts))
    if draw(st.integers(0, 4)) == 0:
        place = draw(st.integers(0, len(written) - 1))
        written[place : place + 2] = ["{" + ",".join(written[place : place + 2]) + "}"]
    return " ".join(written)


braces = st.lists(
    st.sampled_from(["{", "}", ",", "a", "b", "{a,b}", "-", "{c", ",d}", "{}"]), max_size=9
).map("".join)
COMMANDS = {"torn": torn(), "evaluated": evaluated, "disguised": disguised()}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return scratch_in(tmp_path_factory.mktemp("scratch"))


@settings(max_examples=long(80, 20_000))
@given(command=st.one_of(*COMMANDS.values()))
@example("{uniq,{-c,}} top docs/new")
@example("truncate -{s0,} top")
@example("bash {-c,} 'touch docs/new'")
def test_nothing_is_hidden(scratch, command):
    check(scratch, "bash", command)


@pytest.mark.soak
@pytest.mark.parametrize("kind", COMMANDS)
def test_nothing_is_hidden_many_times(scratch, kind):
    @settings(max_examples=long(1_500, 100_000))
    @given(command=COMMANDS[kind])
    def law(command):
        check(scratch, "bash", command)

    law()


@pytest.mark.soak
@settings(max_examples=long(1_500, 100_000))
@given(command=torn())
def test_nothing_is_hidden_in_a_plain_shell(scratch, command):
    check(scratch, "sh", command)


def test_the_laws_are_not_kept_by_knowing_nothing(scratch):
    """Forms that write are known in full, unless a shell may read them in another way."""
    forms = [form.replace("W", "touch docs/new").replace("H", "true") for form in FORMS]
    known = [form for form in forms if not scratch.footprint(form).unknown]
    assert len(known) > len(forms) / 2
    assert sum(check(scratch, "bash", form) for form in PROGRAMS) > len(PROGRAMS) / 2


@settings(max_examples=long(40, 20_000))
@given(text=braces)
@example("{a,b{c,d}}")
@example("{{a},b}")
@example("{},a}")
def test_braces_stand_for_what_a_shell_makes_of_them(text):
    names = expand_braces(read_script(f"x{text}").tokens[0])
    if names is None:
        return
    ran = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' x{text}"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == names
