"""All labelled commits."""

from labelled import (
    c_cpp,
    csharp,
    documents,
    go_rust,
    java_kotlin,
    javascript,
    lost_tests,
    python,
    rearranged,
    ruby_php,
    shell_tcl,
)

COMMITS = (
    *python.COMMITS,
    *javascript.COMMITS,
    *go_rust.COMMITS,
    *java_kotlin.COMMITS,
    *csharp.COMMITS,
    *c_cpp.COMMITS,
    *ruby_php.COMMITS,
    *shell_tcl.COMMITS,
    *documents.COMMITS,
    *rearranged.COMMITS,
    *lost_tests.COMMITS,
)
