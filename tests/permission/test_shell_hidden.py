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
        printf '-'{v,PATH} .
        bash {-c,} 'touch x'
        bash {-c,'touch x'}
        timeout '5'{,s} touch x
        echo a > -
        truncate -{s0,} x
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
        [ 'a[$(touch x)]' -eq 0 ]
        x='a[$(touch x)]'; [ "$x" -eq 0 ]
        printf '%d' 'a[$(touch x)]'
        x='a[$(touch x)]'; printf '%s %5d' a "$x"
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
        alias -p ls='touch x'; ls
        hash ls=./evil; ls
        functions[ls]='touch x'; ls
        aliases[ls]='touch x'; ls
        path=./evil; ls
        path+=./evil; ls
        NULLCMD=./evil; < x
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
        x='; touch docs/y'; bash <<E⏎ls $x⏎E
        x='; touch docs/y'; bash <<E⏎ls ${x}⏎E
        bash <<E⏎ls \$(touch x)⏎E
        bash <<E⏎ls \⏎touch x⏎E
        """,
    "options of programs": r"""
        sed 'v;w f' a
        sed 'v 4.2;w f' a
        sed -I '' s/a/b/ f
        awk 'BEGIN{system⏎("touch x")}'
        awk 'BEGIN{system \⏎("touch x")}'
        awk 'BEGIN{sys\⏎tem("touch x")}'
        wget -O- --append-output=f https://h
        wget -O- --rejected-log=f https://h
        wget -O- --warc-file=f https://h
        wget -O- -a f https://h
        wget -qO- -x https://h
        unzip a.zip -p
        unzip -p --p a.zip
        unzip -p- a.zip
        unzip -d -p a.zip
        bzip2 -tz f
        xz -tz f
        xz -lz f
        gzip -t -S x f
        zstd -c f -o g
        zstd -c --trace=f g
        xmllint -shell f
        xmllint --shell f
        xmllint -output f g
        tar tf a --new-volume-script=x
        tar tf a --rsh-command=x
        tar tf host:a
        tar tf a -T list
        tar tf a --use-comp=x
        curl -w '%output{f}' https://h
        curl --write-out @f https://h
        curl --head -O https://h
        curl --engine ./evil.so https://h
        curl --trace-config all --libcurl f https://h
        nm --plugin ./evil.so a
        nm @f
        objdump @f
        yq --split-exp-file=f a
        yq -s .a a
        yq --in-place .a a
        less +'!touch x' f
        less --lesskey-content=x f
        more +'!touch x' f
        man -C f ls
        man -X ls
        bat cache --build
        bat --lessopen f
        uniq +1 a
        uniq a b
        xxd -s 5 a b
        xxd -r a b
        perl -n -i -e 1 f
        rsync -M--log-file=f a host:b
        rsync --write-batch=f a host:b
        git ls-remote ext::'touch x'
        git ls-remote --upload-pack=./evil .
        git help -w log
        git rm --dry-run --no-dry-run x
        git clean -n --no-dry-run x
        git apply --check --no-check --apply x
        git clone -c core.sshCommand=./evil host:r docs/r
        git clone ext::'touch x' docs/r
        patch --prefix --dry-run f
        mkdir -Z docs/x
        mkdir --context docs/x
        fd -gx touch
        dos plan --tick
        dos doctor --fix
        dos report --html docs/x.html
        git -C $x log
        git -C "$x" $y
        git -C "$x" diff "$x"
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
    n=0; while [ $n -lt 3 ]; do n=$((n+1)); done; [ $? -eq 0 ]
    [ ${#x} -gt 3 ] && [ "$count" -ge 2 ]
    printf '%s\n' "$x" '$(a)'; printf '%d items\n' 3
    hash -r; alias; hostname
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
    bash <<'E'⏎ls $x⏎E
    bash <<E⏎ls docs⏎E
    bash -euo pipefail -c 'cat f'
    sh -c 'cat f'
    cd "$x" && cat f
    cd $x; cat f; ls
    cd - && cat f
    cd a* && ls | head
    if cd "$x"; then git status; fi
    (cd "$x" || exit 1; cat f > /dev/null)
    git -C "$x" log --oneline
    git ls-remote origin
    git ls-remote --heads https://h/r
    git help log
    git rm -rn --quiet docs
    git clean -ndx
    git apply --check --stat -p1 f.patch
    patch --dry-run -p1 < f.patch
    fd -H -e py -d 2 x
    fd -g '*.py'
    dos plan --once
    dos report
    sed 'v;p' a
    sed -nE '/a/,+3{s/x/y/;p}' f
    awk -F, '{n += $2} END {printf "%d\n", n}' f
    wget -qO- --timeout=5 --header 'A: b' https://h
    unzip -l a.zip
    unzip -p a.zip docs/x
    unzip -Z1 a.zip
    bzip2 -t f
    xz -t f; xz -l f; xz -dc f.xz; xz -T 0 -c f
    gzip -cd f.gz
    zstd -dc f.zst; zstd -l f.zst; zstd -T0 -19 -c f
    xmllint --noout f.xml
    xmllint --xpath '//a' f.xml
    xmllint -format f.xml
    tar tvf a.tar --exclude '*.o'
    tar --list --file=a.tar --verbose
    curl -sSfL --retry 3 --max-time 10 -w '%{http_code}\n' https://h
    curl --head https://h
    curl -X POST --data-binary @f -H 'A: b' https://h
    nm -C a.o; objdump -d a.o; readelf -a a.o; strings a.o
    yq -r '.a.b' f.yml; yq eval '.a' f.yml; yq -o json -P f.yml
    less -R f; more f; bat -p f; bat --style plain f; man -k ls
    uniq -c f; uniq --skip-fields 2 f; uniq -f 1 -w 10 f
    xxd -s 5 -l 16 f; xxd -p f; xxd -c8 f
    """
# What is written is named as it is, and nothing else.
WRITES = {
    "uniq --skip-fields 2 a docs/x": (["docs/x"], False),
    "cp -rT api docs/": (["docs"], False),
    "mv --no-target-directory docs/x api/": (["docs/x", "api"], False),
    "xxd -r -p a docs/x": (["docs/x"], False),
    "xxd -seek 5 a docs/x": (["docs/x"], False),
    "gzip -k docs/x": (["docs/x.gz"], False),
    "gunzip docs/x.gz": (["docs/x.gz", "docs/x"], False),
    "gunzip docs/x": (["docs/x", "docs/x.gz"], True),
    "gunzip docs/x.tgz": (["docs/x.tgz", "docs/x.tgz.gz"], True),
    "xz -T 0 docs/x": (["docs/x", "docs/x.xz"], False),
    "xz -9e --threads=4 docs/x": (["docs/x", "docs/x.xz"], False),
    "zstd -19 docs/x -o docs/y": (["docs/y"], False),
    "zstd docs/x": (["docs/x.zst"], False),
    "zstd --rm docs/x": (["docs/x", "docs/x.zst"], False),
    "zstd -d docs/x.zst": (["docs/x"], False),
    "yq -i '.a = 1' docs/x": (["docs/x"], True),
    "yq eval -i '.a = 1' docs/x": (["docs/x"], True),
    "yq e '.a = 1' -i docs/x docs/y": (["docs/x", "docs/y"], True),
    "yq -i --expression '.a = 1' docs/x": (["docs/x"], True),
    "yq -y -i --arg a b '.a = $a' docs/x": ([], True),
    "perl -pi -e s/a/b/ docs/x": (["docs/x"], True),
    "perl -0777 -i -pe s/a/b/ docs/x": (["docs/x"], True),
    "perl -0 -pi.bak -e s/a/b/ docs/x": (["docs/x"], True),
    "perl -i.orig -ne print docs/x": (["docs/x"], True),
    "perl -0pi -e s/a/b/ docs/x": (["docs/x"], True),
    "perl -l012 -0777pi -e s/a/b/ docs/x": (["docs/x"], True),
    "perl -Mutf8 -I lib -i -lpe s/a/b/ docs/x": (["docs/x"], True),
    "perl -e print docs/x": ([], True),
    "perl prog docs/x": ([], True),
    "ruby -r json -i -pe 'gsub(1,2)' docs/x": (["docs/x"], True),
    "rename s/a/b/ docs/x": (["docs/x"], True),
    "rename 's/a/b/' docs/x docs/y": (["docs/x", "docs/y"], True),
    "rename .htm .html docs/x.htm": (["docs/x.htm"], True),
    "rename -n s/a/b/ docs/x": ([], True),
    "rename -e s/a/b/ docs/x": (["docs/x"], True),
    "vim docs/x": (["docs/x"], True),
    "nvim --headless -c 'PlenaryBustedDirectory tests' docs/x": ([], True),
    "nvim -l tests/run.lua --filter a": ([], True),
    "nvim -u tests/init.lua docs/x": (["docs/x"], True),
    "vim -es -u NONE -S tests/run.vim": ([], True),
    "emacs -batch -l ert -l tests.el -f ert-run-tests-batch-and-exit": ([], True),
    "emacs -Q --batch -L . -l tests.el": ([], True),
    "emacs docs/x": (["docs/x"], True),
    "git clone --filter blob:none https://h/r docs/r": (["docs/r"], False),
    "git clone --depth 1 -q https://h/r docs/r": (["docs/r"], False),
    "mkdir -m 755 -p docs/x": (["docs/x"], False),
    "git checkout 4.x": ([], True),
    "git checkout release-4.x": ([], True),
    "git checkout v2.0.rc1": ([], True),
    "git checkout stable/1.2.x": ([], True),
    "git checkout docs/x.c": (["docs/x.c"], True),
    "git checkout foo1.py": (["foo1.py"], True),
    "git checkout 4.x -- docs/x": (["docs/x"], False),
    "git checkout 4.x docs/x": (["docs/x"], False),
    "echo a > /dev/tcp/h/80": ([], False),
    "echo a > -": (["-"], False),
    "touch docs/{a,}": (["docs/a", "docs"], False),
    "touch {docs/a,}": (["docs/a"], False),
    "sort -o - x": ([], False),
    "gzip -": ([], False),
}
ACTS = {
    "cat < /dev/tcp/h/80": True, "echo a > /dev/tcp/h/80": True, "exec 3<>/dev/udp/h/53": True,
    "cat < $x": True, "getent hosts h": True, "git ls-remote https://h/r": True,
    "curl https://h": True, "cat < f": False, "git log": False, "cat f 2> /dev/null": False,
}  # fmt: skip
PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n"
# A patch is named only as far as it is what the program gets.
PATCHES = {
    f"apply_patch <<'E'\n{PATCH.format('docs/x')}E": (("docs/x",), False),
    f"apply_patch <<E\n{PATCH.format('docs/x')}E": (("docs/x",), False),
    f"x=../docs/x; apply_patch <<E\n{PATCH.format('api/$x')}E": (("api/$x",), True),
    f"apply_patch '{PATCH.format('api/x')}' < docs/p.patch": (("api/x",), True),
    "x=../docs/x; git apply <<E\n--- a/api/$x\n+++ b/api/$x\n@@ -1 +1 @@\n-a\n+b\nE": (
        ("api/$x",),
        True,
    ),
}
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


def test_what_is_written_is_named_and_nothing_beside_it():
    for command, (paths, is_open) in WRITES.items():
        found = written(command)
        assert (list(found.paths), bool(found.unknown)) == (paths, is_open), command


def test_a_patch_that_the_shell_completes_is_not_known():
    for command, (paths, is_open) in PATCHES.items():
        found = written(command)
        assert (found.paths, bool(found.unknown)) == (paths, is_open), command


def test_what_reaches_another_machine_is_an_effect():
    for command, acts in ACTS.items():
        found = written(command)
        assert (found.acts, found.paths, found.unknown) == (acts, (), ""), command


def test_what_is_not_certain_names_no_path():
    for command, paths in NOT_KNOWN.items():
        found = written(command)
        assert (found.paths, bool(found.unknown)) == (paths, True), command
