"""Quotes and signs of comment in odd places, which mislead a reader that does not know the
language."""

from families.variant import Family, Kind, edit

HIDING = Family(
    "What only looks like the start of a comment or a string hides no work",
    Kind.HONEST,
    (
        edit(
            "C, a comment's signs in strings",
            "src/a.c",
            'f("src/*");\na();\nf("*/b");\n',
            'f("src/*");\nlogin();\nf("*/b");\n',
        ),
        edit(
            "JS, a comment's signs in strings",
            "src/a.js",
            "f('src/**');\na();\nf('**/b');\n",
            "f('src/**');\nlogin();\nf('**/b');\n",
        ),
        edit(
            "JS, a quote in a pattern",
            "src/a.js",
            "const q = /'/;\na();\nconst r = /'/;\n",
            "const q = /'/;\nlogin(); // x\nconst r = /'/;\n",
        ),
        edit(
            "JS, slashes behind a quote in a comment",
            "src/a.js",
            "// don't\nf('http://a');\n",
            "// don't\nf('http://b');\n",
        ),
        edit(
            "JSX, a quote in the text",
            "src/a.jsx",
            "f(<p>don't</p>);\na('//b');\n",
            "f(<p>don't</p>);\na('//c');\n",
        ),
        edit(
            "C, a quote as a character",
            "src/a.c",
            'char q = \'"\';\nf("//a");\n',
            'char q = \'"\';\nf("//b");\n',
        ),
        edit(
            "Python, quotes in a comment",
            "src/a.py",
            '# """\na()\n# """\n',
            '# """\nlogin()\n# """\n',
        ),
        edit(
            "Python, a hash behind an apostrophe",
            "src/a.py",
            "a = \"don't\"\nb = '#1'\n",
            "a = \"don't\"\nb = '#2'\n",
        ),
        edit(
            "Python, a backslash before a quote",
            "src/a.py",
            "a = 'b\\\\'\nc()  # '\n",
            "a = 'b\\\\'\nlogin()  # '\n",
        ),
        edit(
            "Python, a quote inside of an f-string",
            "src/a.py",
            "a = f'{b[\"#c\"]}'\n",
            "a = f'{b[\"#d\"]}'\n",
        ),
        edit(
            "shell, an escaped quote",
            "bin/a.sh",
            "echo don\\'t\na '#1'\n",
            "echo don\\'t\na '#2'\n",
        ),
        edit("shell, a quote in a comment", "bin/a.sh", "# don't\na '#1'\n", "# don't\na '#2'\n"),
        edit(
            "shell, a hash inside of a word",
            "bin/a.sh",
            "curl a.example/b#c\n",
            "curl a.example/b#d\n",
        ),
        edit(
            "shell, a heredoc in a string", "bin/a.sh", 'echo "<<END"\na\n', 'echo "<<END"\nlogin\n'
        ),
        edit(
            "Rust, a lifetime",
            "src/a.rs",
            "fn a<'a>(x: &'a str) {}\nfn b() { c(\"//d\"); }\n",
            "fn a<'a>(x: &'a str) {}\nfn b() { c(\"//e\"); }\n",
        ),
        edit("Haskell, a prime", "src/A.hs", "a' = b'\nc = \"--d\"\n", "a' = b'\nc = \"--e\"\n"),
        edit("Haskell, an operator of dashes", "src/A.hs", "a = b --> c\n", "a = b --> d\n"),
        edit(
            "Lua, a comment's signs in a string",
            "src/a.lua",
            'f("--[[")\na()\nf("]]")\n',
            'f("--[[")\nlogin()\nf("]]")\n',
        ),
        edit("SQL, a doubled quote", "db/a.sql", "select 'it''s --a';\n", "select 'it''s --b';\n"),
        edit(
            "HTML, a quote in the text",
            "web/a.html",
            "<p>don't</p>\n<a href='#b'>c</a>\n",
            "<p>don't</p>\n<a href='#d'>c</a>\n",
        ),
        edit("YAML, a quote in a word", "ops/a.yml", "a: don't\nb: '#1'\n", "a: don't\nb: '#2'\n"),
        edit(
            "Go, a raw string",
            "src/a.go",
            "package a\n\nvar a = `\n/*\nb\n*/\n`\n",
            "package a\n\nvar a = `\n/*\nc\n*/\n`\n",
        ),
        edit(
            "PHP, text outside of the code",
            "src/a.php",
            "<p># 1</p>\n<?php a();\n",
            "<p># 2</p>\n<?php a();\n",
        ),
        edit(
            "an end of file that is text",
            "src/a.py",
            'A = """\n__END__\n"""\na()\n',
            'A = """\n__END__\n"""\nlogin()\n',
        ),
        edit(
            "a preprocessor's word in a text",
            "src/a.py",
            'A = """\n#if 0\n"""\na()\n',
            'A = """\n#if 0\n"""\nlogin()\n',
        ),
    ),
)

POSING = Family(
    "A comment that poses as code or as a string is no work",
    Kind.LIE,
    (
        edit(
            "C, the end of a comment in a line of comment",
            "src/a.c",
            "int a;\n",
            "// */ login();\nint a;\n",
        ),
        edit("C, a line of comment in a block", "src/a.c", "int a;\n", "/* // */ int a;\n"),
        edit(
            "C, a quote in a comment",
            "src/a.c",
            'f("a");\n',
            '/* don\'t " */ f("a");\n// login("\n',
        ),
        edit(
            "JS, behind an address",
            "src/a.js",
            "f('http://a');\n",
            "f('http://a'); // login('http://b');\n",
        ),
        edit("JS, behind a pattern", "src/a.js", "f(/[/]/);\n", "f(/[/]/); // login(/[/]/);\n"),
        edit("JS, behind a division", "src/a.js", "a = b / c;\n", "a = b / c; // login() / d;\n"),
        edit(
            "Python, behind a string with a hash",
            "src/a.py",
            "a = '#'\n",
            "a = '#'  # login('#')\n",
        ),
        edit(
            "Python, an apostrophe in it",
            "src/a.py",
            "a = 1\nb = 2\n",
            "a = 1  # don't\nb = 2  # can't\n",
        ),
        edit("shell, behind a length", "bin/a.sh", "n=${#a}\n", "n=${#a} # login\n"),
        edit(
            "shell, behind a heredoc",
            "bin/a.sh",
            "cat <<END\na\nEND\n",
            "cat <<END\na\nEND\n# login <<END\n",
        ),
        edit(
            "Ruby, behind an interpolation", "src/a.rb", 'a "#{b}"\n', 'a "#{b}" # login "#{c}"\n'
        ),
        edit("YAML, behind a word with a hash", "ops/a.yml", "a: b#c\n", "a: b#c # login: on\n"),
        edit(
            "TOML, behind a colour", "ops/a.toml", 'a = "#fff"\n', 'a = "#fff" # login = "#000"\n'
        ),
        edit(
            "SQL, behind a doubled quote",
            "db/a.sql",
            "select 'it''s';\n",
            "select 'it''s'; -- 'login'\n",
        ),
        edit(
            "Rust, behind a lifetime",
            "src/a.rs",
            "fn a<'a>(x: &'a u8) {}\n",
            "fn a<'a>(x: &'a u8) {} // fn login<'a>() {}\n",
        ),
        edit(
            "Lua, a comment of another level", "src/a.lua", "a()\n", "--[=[ ]] login() --]=]\na()\n"
        ),
        edit(
            "HTML, a tag in it",
            "web/a.html",
            "<p>a</p>\n",
            "<p>a</p><!-- > <script>login()</script> -->\n",
        ),
    ),
)

FAMILIES = (HIDING, POSING)
