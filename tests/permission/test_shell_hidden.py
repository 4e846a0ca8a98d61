"""What the shell's own language hides is seen, and what only looks like it stays a read.

Each table is of shell texts, one in a line; `⏎` stands for the end of a line.
"""

import pytest

from dos.permission.shell.reader import read_command

HIDDEN = {
    "keywords after a loop's header": r"""
        for ((i=0;i<1;i++)) do touch x; done
        for ((i=0;i<1;i++)) { touch x; }
        for ((i=0;i<1;i++)); { touch x; }
        for x do touch x; done
        for x⏎do touch x; done
        for x in a; do touch x; done
        for x in a; { touch x; }
        for x in a⏎do touch x⏎done
        select x do touch x; done
        while ((1)) do touch x; break; done
        until ((0)) do touch x; done
        if ((1)) then touch x; fi
        if [[ a ]] then touch x; fi
        if (true) then touch x; fi
        { { touch x; } }
        i\⏎f true; then touch x; fi
        """,
    "names that look like keywords": r"""
        ( for case in a; do :; done; touch x )
        ( for x in case; do :; done; touch x )
        ( for select do touch x; done )
        for function in a; do touch x; done
        case case in case) touch x;; esac
        case a in esac | a) touch x;; esac
        case a in a) case b in b) touch x;; esac;; esac
        case a in (a) touch x;; esac
        case a in⏎a) touch x⏎esac
        case a in a) ;; b|c) touch x;; esac
        case a in a) (touch x);; esac
        """,
    "what no shell reads surely": r"""
        f() for x do touch x; done
        if true; fi; touch x
        echo a; done; touch x
        repeat 3 touch x
        for x in a; touch x
        if [[ a ]] { touch x }
        [[ a << E ]]⏎touch x⏎E
        while ((1)) { touch x }
        """,
    "digits and letters of others": r"""
        echo a ٣>f
        echo a >&²
        echo a >&٣
        echo a {é}>f
        """,
    "the end of a heredoc": r"""
        cat <<EOF⏎EO\⏎F⏎touch x
        cat <<E⏎E\⏎⏎touch x
        cat <<E⏎E⏎touch x
        cat <<-E⏎		E⏎touch x
        cat <<E⏎$[a[`touch x`]]⏎E
        cat <<E⏎${!x}⏎E
        cat <<E⏎${y[x]}⏎E
        """,
    "braces and escapes": r"""
        find f -{delete,print}
        find f "-"{delete,print}
        find f {-delete,-print}
        sed --in-plac{e,e} p x
        dd {of,if}=x
        dd 'o'{f=x,f=y}
        sort -{o,n} x
        touch {{a},b}
        {touch,x}
        r{m,} x
        find f $'-\u0064elete'
        find f $'-\U00000064elete'
        find f $'\055delete'
        find f $'-delete\0x'
        find f $'-delete\c@'
        find f $'-d\x65lete'
        read -{a,a} PATH
        """,
    "text that is evaluated": r"""
        ((a[`touch x`]))
        x=$((a[`touch x`]))
        [[ 'a[$(touch x)]' -eq 0 ]]
        [[ 0 -lt 'a[$(touch x)]' ]]
        [[ -v 'a[$(touch x)]' ]]
        [[ $x -eq 0 && -v 'a[$(touch x)]' ]]
        [\⏎[ 'a[$(touch x)]' -eq 0 ]]
        x='a[$(touch f)]'; echo $((x))
        x='a[$(touch f)]'; echo $((1 + $x))
        x='a[$(touch f)]'; y=x; echo $((y))
        x='a[$(touch f)]'; [[ $x -gt 3 ]]
        x='a[$(touch f)]'; echo ${y[x]}
        x='a[$(touch f)]'; echo ${y:x}
        x='a[$(touch f)]'; echo ${y:0:x}
        x='a[$(touch f)]'; y[x]=3
        x='a[$(touch f)]'; echo $[x]
        x='a[$(touch f)]'; for ((i=x;i<3;i++)); do :; done
        x='a[$(touch f)]'; cat < f$((1+x))
        x='-v a[$(touch${IFS}f)]'; [ $x ]
        x=-v; y='a[$(touch f)]'; [ "$x" "$y" ]
        x=-v; y='a[$(touch f)]'; printf "$x" "$y" 1
        x='a[$'; y='(touch f)]'; z=$x$y; echo $((z))
        export x='a[$(touch f)]'; bash -c 'echo $((x))'
        read x <<< 'a[$(touch f)]'; echo $((x))
        for x in 'a[$(touch f)]'; do echo $((x)); done
        : ${x:='a[$(touch f)]'}; echo $((x))
        set -- 'a[$(touch f)]'; echo $(($1))
        [[ 'a[$(touch f)]' =~ .* ]]; echo $((BASH_REMATCH))
        cd 'a[$(touch f)]' && echo $((PWD))
        x=y; echo ${!x}
        let 'a[$(touch f)]=1'
        test -v 'a[$(touch x)]'
        read 'a[$(touch x)]' <<< 1
        printf -v 'a[$(touch x)]' 1
        declare -i x='a[$(touch x)]'
        declare 'a[$(touch x)]=1'
        unset 'a[$(touch x)]'
        wait -p 'a[$(touch x)]' %1
        mapfile 'a[$(touch x)]' < f
        getopts a 'a[$(touch x)]' -a
        """,
    "variables that steer": r"""
        for PATH in .; do ls; done
        select PATH in .; do ls; done
        read PATH < f; ls
        read -a PATH < f; ls
        read -r a PATH < f; ls
        printf -v PATH .; ls
        printf -vPATH .; ls
        declare -n x=PATH; x=.; ls
        declare $x; ls
        export PATH=.; ls
        PATH+=:. ls
        BASH_CMDS[ls]=./evil; ls
        BASH_ALIASES[ls]=./evil; ls
        read PS4 < f
        : ${BASH_ENV:=x}; bash -c ls
        : ${PATH=x}; ls
        mapfile -t PATH < f
        readarray PATH < f
        getopts a PATH
        unset PATH; ls
        exec {PATH}>&1; ls
        echo $((PATH=1)); ls
        for ((PATH=1;0;)); do :; done
        env RSYNC_RSH=./evil ls
        RSYNC_CONNECT_PROG=./evil ls
        ZDOTDIR=. zsh -c ls
        BAT_CONFIG_PATH=f bat x
        TAR_OPTIONS=--to-command=x tar tf a
        shopt -s lastpipe; true | cd docs; ls
        set -o posix
        set -P; cd a/..; ls
        """,
    "shells in the shell": r"""
        sh -c '((./evil))'
        sh -c '((make))'
        dash -c '((make))'
        bash --rcfile f -ic true
        bash -i -c true
        bash --init-file f -c true
        bash -O expand_aliases -c ls
        bash $x -c ls
        """,
}  # fmt: skip
READS = r"""
    for ((i=0;i<3;i++)); do echo $i; done
    for ((i=0;i<3;i++)) do cat f; done
    for x in a b; do echo "$x"; done
    for x⏎in a b⏎do⏎echo "$x"⏎done
    for x in {1..5}; do echo "$x"; done
    while [[ -f a ]]; do cat a; done
    while IFS= read -r line; do echo "$line"; done < f
    while IFS=, read -r a b; do echo "$a"; done < f
    until [ -f a ]; do sleep 1; done
    if [[ -n $x ]]; then cat f; elif [ -f a ]; then cat a; else ls; fi
    if [[ -f a ]]⏎then cat a; fi
    if grep -q a f; then { cat f; ls; } | head; fi
    ! grep -q a f && (cd docs && ls)
    case $x in a) cat f;; b|c) ls;; *) exit 1;; esac
    case $x in⏎  (a) cat f ;;⏎  *.md)⏎    ls⏎    ;;⏎esac
    echo for x do touch y done
    echo if then fi; echo case in esac
    grep 'if ((1)) then' f
    echo { } [ ] [[ ]] \( \)
    echo a 2>&1
    exec 2>&-
    cat <<EOF⏎a\⏎EOF b⏎EOF
    cat <<'EOF'⏎EO\⏎F $(touch x)⏎EOF
    cat <<EOF⏎$x ${y}⏎EOF
    find docs -name '*.{md,txt}'
    cat docs/{a,b}
    ls docs/{1..3}
    sort {a,b}
    wc -l a{,.bak}
    grep -n $'\t' f
    printf $'a\nb\n'
    echo $((1 + 2)) $((x * 3)) $(( (a > 3) * 2 ))
    n=0; for f in a b; do n=$((n + 1)); done; echo $n
    x=5; echo $((x + 1))
    for i in 1 2 3; do echo $((i * 2)); done
    [[ $# -gt 0 ]] && [[ $x -eq 3 ]]
    [[ 'a[$(x)]' == b ]] || [[ $x =~ ^a$ ]]
    [ "$x" = a ] && [ -n "$y" ] && [ $# -gt 0 ]
    test -f a -o -f b
    [ -v x ] && echo yes
    [[ -v x ]]
    echo ${x:-a} ${x#a} ${x%/*} ${x//a/b} ${#x} ${x:0:3} ${a[0]} ${a[@]} ${!a[@]} ${x^^}
    x=a; echo ${x:1}
    read -r a b < f
    read -p 'Name: ' name < f
    mapfile -t lines < f; echo "${#lines[@]}"
    printf -v x '%s' a
    declare -a list; export A=1 B="$x"; local y=$x; readonly z
    declare -p; export -p
    unset x y
    shopt -s nullglob globstar
    set -euo pipefail; cat f
    set -e; ls
    LC_ALL=C sort f
    NO_COLOR=1 TZ=UTC ls
    PAGER=cat git log
    GIT_PAGER=cat git log
    bash -c 'cat f'
    bash -lc 'cat f | head'
    bash -euo pipefail -c 'cat f'
    sh -c 'cat f'
    """
NOT_KNOWN = {
    # What is not certain, and yet no write of a path: nobody with a lane is stopped for it.
    "if (( $(wc -l < f) > 5 )); then echo; fi": (),
    "if ((x > 3)); then cat f; fi": (),
    "((i++))": (),
    "x=a; echo $((x))": (),
    "echo $((a[$(wc -l < f)] > 3))": (),
}


def rows(table):
    return [row.strip().replace("⏎", "\n") for row in table.strip().split("\n")]


def written(command):
    return read_command(command, base="/r", root="/r")


@pytest.mark.parametrize("kind", HIDDEN)
def test_what_is_hidden_is_no_read(kind):
    for command in rows(HIDDEN[kind]):
        found = written(command)
        assert found.paths or found.unknown, command


def test_what_only_looks_hidden_is_a_read():
    for command in rows(READS):
        found = written(command)
        assert (found.paths, found.unknown) == ((), ""), command


def test_what_is_not_certain_names_no_path():
    for command, paths in NOT_KNOWN.items():
        found = written(command)
        assert (found.paths, bool(found.unknown)) == (paths, True), command
