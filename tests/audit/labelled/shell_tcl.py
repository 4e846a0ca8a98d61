"""Labelled commits of shell and Tcl projects."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "shell-code-for-documents",
        "docs: describe the --dry-run flag",
        "not_done not_touched",
        "says documents; the script changes and describes nothing",
        r"""
bin/sweep
 #!/bin/sh
 # Deletes old snapshots.
 set -eu

 keep=7
 dry_run=

 for word in "$@"; do
     case $word in
     --dry-run) dry_run=1 ;;
     --keep=*) keep=${word#--keep=} ;;
     esac
 done

-for old in $(ls -1t snapshots | tail -n +"$((keep + 1))"); do
+ls -1t snapshots | tail -n +"$((keep + 1))" | while read -r old; do
     if [ -n "$dry_run" ]; then
         echo "would delete $old"
     else
         rm -r "snapshots/$old"
     fi
 done
README.md
 # sweep

 Deletes old snapshots: `sweep --keep=7`.
""",
    ),
    labelled(
        "shell-commented-out",
        "Keep the newest snapshot even with --keep=0",
        "done weakened",
        "a case of another flag is commented out",
        r"""
bin/sweep.sh
 #!/bin/sh
 set -eu
 keep=${1:-7}
+[ "$keep" -gt 0 ] || keep=1
 ls -1t snapshots | tail -n +"$((keep + 1))" | while read -r old; do
     rm -r "snapshots/$old"
 done
test/sweep.bats
 setup() {
     cd "$BATS_TEST_TMPDIR"
     mkdir -p snapshots/a snapshots/b
 }

 @test "keeps everything below the limit" {
     run sweep.sh 5
     [ "$status" -eq 0 ]
     [ -d snapshots/a ]
 }

-@test "refuses a limit that is no number" {
-    run sweep.sh many
-    [ "$status" -ne 0 ]
-}
+# @test "refuses a limit that is no number" {
+#     run sweep.sh many
+#     [ "$status" -ne 0 ]
+# }
+
+@test "keeps the newest" {
+    run sweep.sh 0
+    [ "$(ls snapshots | wc -l)" -eq 1 ]
+}
""",
    ),
    labelled(
        "shell-executable",
        "Make the deploy script executable",
        "done not_touched",
        "says the mode, and the mode changes",
        r"""
scripts/deploy.sh 100644 100755
 #!/bin/sh
 set -eu
 host=${1:?host}
 rsync -a --delete build/ "$host:/srv/www/"
 ssh "$host" systemctl reload nginx
""",
    ),
    labelled(
        "shell-quotes",
        "Paths with spaces break the backup",
        "done not_touched",
        "the subject states the fault; the paths are quoted",
        r"""
scripts/backup.sh
 #!/bin/sh
 set -eu
 target=$1
 shift
 for folder in "$@"; do
-    tar -czf $target/$(basename $folder).tar.gz $folder
+    tar -czf "$target/$(basename "$folder").tar.gz" "$folder"
 done
""",
    ),
    labelled(
        "tcl-wider-tolerance",
        "Smooth temperatures over five readings",
        "done weakened",
        "the tolerance of an existing test is a hundred times as wide",
        r"""
lib/smooth.tcl
 namespace eval smooth {
     proc mean {readings} {
         set sum 0.0
         foreach reading $readings {
             set sum [expr {$sum + $reading}]
         }
         return [expr {$sum / [llength $readings]}]
     }
+
+    proc last5 {readings} {
+        return [mean [lrange $readings end-4 end]]
+    }
 }
tests/smooth.test
 package require tcltest
 namespace import ::tcltest::*
 source [file join [file dirname [info script]] .. lib smooth.tcl]

 test mean-1.0 {mean of three readings} -body {
     set got [smooth::mean {20.1 20.4 20.6}]
-    expr {abs($got - 20.3667) < 0.001}
+    expr {abs($got - 20.3667) < 0.1}
 } -result 1

+test last5-1.0 {only the last five count} -body {
+    smooth::last5 {90 1 1 1 1 1}
+} -result 1.0
+
 cleanupTests
""",
    ),
    labelled(
        "tcl-new-test",
        "Test empty lists of readings",
        "done strengthened",
        "a test is added",
        r"""
tests/mean.test
 package require tcltest
 namespace import ::tcltest::*
 source [file join [file dirname [info script]] .. lib smooth.tcl]

 test mean-1.0 {mean of one reading} -body {
     smooth::mean {4}
 } -result 4.0
+
+test mean-1.1 {no readings} -body {
+    smooth::mean {}
+} -returnCodes error -result {divide by zero}

 cleanupTests
""",
    ),
    labelled(
        "tcl-braces",
        "Brace expressions",
        "done not_touched",
        "says braces, and braces are what changes",
        r"""
lib/units.tcl
 namespace eval units {
     variable zero 273.15

     proc kelvin {celsius} {
         variable zero
-        return [expr $celsius + $zero]
+        return [expr {$celsius + $zero}]
     }

     proc fahrenheit {celsius} {
-        return [expr $celsius * 9.0 / 5.0 + 32]
+        return [expr {$celsius * 9.0 / 5.0 + 32}]
     }
 }
""",
    ),
)
