"""Labelled commits of Go and Rust projects."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "go-comment-for-a-fix",
        "Close the response body when the status is not 200",
        "not_done not_touched",
        "a comment says that the body is closed; nothing closes it",
        r"""
fetch/fetch.go
 package fetch

 import (
     "fmt"
     "io"
     "net/http"
 )

-// Get returns the content behind a URL.
+// Get returns the content behind a URL. The body is closed whatever the status is.
 func Get(url string) ([]byte, error) {
     response, err := http.Get(url)
     if err != nil {
         return nil, err
     }
     if response.StatusCode != http.StatusOK {
+        // close the body here too
         return nil, fmt.Errorf("GET %s: %s", url, response.Status)
     }
     defer response.Body.Close()
     return io.ReadAll(response.Body)
 }
""",
    ),
    labelled(
        "go-body-closed",
        "Close response bodies on error",
        "done not_touched",
        "the deferred call moved above the check",
        r"""
fetch/fetch.go
 package fetch

 import (
     "fmt"
     "io"
     "net/http"
 )

 // Get returns the content behind a URL.
 func Get(url string) ([]byte, error) {
     response, err := http.Get(url)
     if err != nil {
         return nil, err
     }
+    defer response.Body.Close()
     if response.StatusCode != http.StatusOK {
         return nil, fmt.Errorf("GET %s: %s", url, response.Status)
     }
-    defer response.Body.Close()
     return io.ReadAll(response.Body)
 }
""",
    ),
    labelled(
        "go-lost-row",
        "calendar: accept two-digit years",
        "done weakened",
        "a row is added for the new years, and the one for leap days is gone",
        r"""
calendar/parse.go
 package calendar

 import "time"

+var layouts = []string{"2006-01-02", "06-01-02"}
+
 // Parse reads a date.
 func Parse(text string) (time.Time, error) {
-    return time.Parse("2006-01-02", text)
+    var err error
+    for _, layout := range layouts {
+        var day time.Time
+        if day, err = time.Parse(layout, text); err == nil {
+            return day, nil
+        }
+    }
+    return time.Time{}, err
 }
calendar/parse_test.go
 package calendar

 import "testing"

 func TestParse(t *testing.T) {
     tests := []struct {
         text string
         want string
     }{
         {"2024-01-31", "Jan 31 2024"},
-        {"2024-02-29", "Feb 29 2024"},
         {"1999-12-31", "Dec 31 1999"},
+        {"24-06-01", "Jun 1 2024"},
     }
     for _, test := range tests {
         day, err := Parse(test.text)
         if err != nil {
             t.Fatal(err)
         }
         if got := day.Format("Jan 2 2006"); got != test.want {
             t.Errorf("Parse(%q) = %q, want %q", test.text, got, test.want)
         }
     }
 }
""",
    ),
    labelled(
        "go-golden-file",
        "report: compare the whole table with a golden file",
        "done strengthened",
        "two checks of parts became one of the whole output",
        r"""
report/table_test.go
 package report

 import (
-    "strings"
+    "os"
     "testing"
 )

 func TestTable(t *testing.T) {
     got := Table([]Row{{"apples", 3}, {"pears", 12}})
-    if !strings.Contains(got, "apples") {
-        t.Error("no apples")
-    }
-    if !strings.Contains(got, "12") {
-        t.Error("no count of pears")
-    }
+    want, err := os.ReadFile("testdata/table.golden")
+    if err != nil {
+        t.Fatal(err)
+    }
+    if got != string(want) {
+        t.Errorf("got:\n%s\nwant:\n%s", got, want)
+    }
 }
report/testdata/table.golden
+| what   | count |
+|--------|------:|
+| apples |     3 |
+| pears  |    12 |
""",
    ),
    labelled(
        "go-comment-typos",
        "Fix spelling",
        "done not_touched",
        "says spelling; two comments are corrected",
        r"""
pool/pool.go
 package pool

-// Pool holds idle conections and hands them out again.
+// Pool holds idle connections and hands them out again.
 type Pool struct {
     idle []*Conn
     open int
 }

-// Get retruns an idle connection, or dials a new one.
+// Get returns an idle connection, or dials a new one.
 func (p *Pool) Get() (*Conn, error) {
     if last := len(p.idle) - 1; last >= 0 {
         conn := p.idle[last]
         p.idle = p.idle[:last]
         return conn, nil
     }
     p.open++
     return dial()
 }
""",
    ),
    labelled(
        "rust-layout-for-a-fix",
        "Return an error for empty tokens",
        "not_done not_touched",
        "a chain is broken over lines; empty tokens are still taken",
        r"""
src/token.rs
 use crate::Error;

 pub struct Token(String);

 impl Token {
     pub fn parse(text: &str) -> Result<Token, Error> {
-        let token = text.trim().strip_prefix("Bearer ").ok_or(Error::NoPrefix)?;
+        let token = text
+            .trim()
+            .strip_prefix("Bearer ")
+            .ok_or(Error::NoPrefix)?;
         Ok(Token(token.to_string()))
     }

     pub fn as_str(&self) -> &str {
         &self.0
     }
 }
""",
    ),
    labelled(
        "rust-ignore",
        "feat: support nested groups in patterns",
        "done weakened",
        "an existing case is ignored",
        r"""
src/pattern.rs
 pub fn depth(pattern: &str) -> Option<usize> {
     let mut open = 0;
     let mut deepest = 0;
     for letter in pattern.chars() {
         match letter {
             '(' => open += 1,
-            ')' => open = 0,
+            ')' if open == 0 => return None,
+            ')' => open -= 1,
             _ => {}
         }
         deepest = deepest.max(open);
     }
     (open == 0).then_some(deepest)
 }

 #[cfg(test)]
 mod tests {
     use super::*;

     #[test]
     fn flat() {
         assert_eq!(depth("a(b)c"), Some(1));
     }

     #[test]
+    #[ignore]
     fn unbalanced() {
         assert_eq!(depth("a(b"), None);
     }
+
+    #[test]
+    fn nested() {
+        assert_eq!(depth("a(b(c))"), Some(2));
+    }
 }
""",
    ),
    labelled(
        "rust-laid-out-assertion",
        "cargo fmt",
        "done kept",
        "says layout and is layout",
        r"""
tests/exports.rs
 use tally::{export, Entry, Format};

 #[test]
 fn csv_has_a_header() {
-    assert_eq!(export(&[Entry::new("rent", 900)], Format::Csv).lines().next(), Some("a,b"));
+    assert_eq!(
+        export(&[Entry::new("rent", 900)], Format::Csv)
+            .lines()
+            .next(),
+        Some("a,b")
+    );
 }

 #[test]
 fn json_is_an_array() {
-    assert!( export(&[], Format::Json) == "[]" );
+    assert!(export(&[], Format::Json) == "[]");
 }
""",
    ),
    labelled(
        "rust-comment-of-why",
        "Explain why the lock is taken twice",
        "done not_touched",
        "says an explanation; it is a comment",
        r"""
src/cache.rs
 use std::collections::HashMap;
 use std::sync::RwLock;

 pub struct Cache {
     entries: RwLock<HashMap<String, u64>>,
 }

 impl Cache {
     pub fn get_or_insert(&self, key: &str, make: impl Fn() -> u64) -> u64 {
+        // Most lookups find an entry, and readers do not block each other. Only a miss
+        // takes the write lock, and has to look again: another thread may have been faster.
         if let Some(found) = self.entries.read().unwrap().get(key) {
             return *found;
         }
         let mut entries = self.entries.write().unwrap();
         *entries.entry(key.to_string()).or_insert_with(make)
     }
 }
""",
    ),
)
