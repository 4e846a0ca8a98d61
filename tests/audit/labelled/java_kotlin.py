"""Labelled commits of Java and Kotlin projects."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "java-test-for-a-fix",
        "TRAIN-212: Handle platform changes after departure",
        "not_done strengthened",
        "a new case asks for it; no code handles it",
        r"""
src/test/java/org/trains/BoardTest.java
 package org.trains;

 import static org.junit.jupiter.api.Assertions.assertEquals;

 import org.junit.jupiter.api.Test;

 class BoardTest {
     @Test
     void showsThePlatform() {
         Board board = new Board();
         board.announce("RE 7", 4);
         assertEquals(4, board.platformOf("RE 7"));
     }
+
+    @Test
+    void ignoresPlatformChangesAfterDeparture() {
+        Board board = new Board();
+        board.announce("RE 7", 4);
+        board.depart("RE 7");
+        board.announce("RE 7", 9);
+        assertEquals(4, board.platformOf("RE 7"));
+    }
 }
""",
    ),
    labelled(
        "java-disabled-by-full-name",
        "TRAIN-219: Sort departures by time",
        "done weakened",
        "an existing case is disabled",
        r"""
src/main/java/org/trains/Departures.java
 package org.trains;

 import java.util.ArrayList;
+import java.util.Comparator;
 import java.util.List;

 public class Departures {
     private final List<Departure> all = new ArrayList<>();

     public void add(Departure departure) {
         all.add(departure);
+        all.sort(Comparator.comparing(Departure::time));
     }

     public Departure next() {
         return all.get(0);
     }
 }
src/test/java/org/trains/DeparturesTest.java
 package org.trains;

 import static org.junit.jupiter.api.Assertions.assertEquals;
 import static org.junit.jupiter.api.Assertions.assertThrows;

 import org.junit.jupiter.api.Test;

 class DeparturesTest {
+    @Test
+    void nextIsTheEarliest() {
+        Departures departures = new Departures();
+        departures.add(new Departure("IC 2", "10:40"));
+        departures.add(new Departure("S 3", "10:05"));
+        assertEquals("S 3", departures.next().name());
+    }
+
     @Test
+    @org.junit.jupiter.api.Disabled
     void nothingDeparts() {
         assertThrows(IndexOutOfBoundsException.class, () -> new Departures().next());
     }
 }
""",
    ),
    labelled(
        "java-wrapped-checks",
        "TRAIN-230: Extract assertRoute() in RouterTest",
        "done kept",
        "the same two checks stand in a method that both cases call",
        r"""
src/test/java/org/trains/RouterTest.java
 package org.trains;

 import static org.junit.jupiter.api.Assertions.assertEquals;

 import org.junit.jupiter.api.Test;

 class RouterTest {
     private final Router router = new Router(Network.sample());

     @Test
     void direct() {
-        Route route = router.find("Ulm", "Aalen");
-        assertEquals(0, route.changes());
-        assertEquals(58, route.minutes());
+        assertRoute("Ulm", "Aalen", 0, 58);
     }

     @Test
     void withOneChange() {
-        Route route = router.find("Ulm", "Jena");
-        assertEquals(1, route.changes());
-        assertEquals(241, route.minutes());
+        assertRoute("Ulm", "Jena", 1, 241);
+    }
+
+    private void assertRoute(String from, String to, int changes, int minutes) {
+        Route route = router.find(from, to);
+        assertEquals(changes, route.changes());
+        assertEquals(minutes, route.minutes());
     }
 }
""",
    ),
    labelled(
        "java-test-data-in-code",
        "Load test data from the bundled archive",
        "done not_touched",
        "the demo mode of the product loads it; no test is claimed",
        r"""
src/main/java/org/trains/DemoMode.java
 package org.trains;

 import java.io.IOException;
 import java.io.InputStream;
-import java.nio.file.Files;
-import java.nio.file.Path;
+import java.util.zip.GZIPInputStream;

 public class DemoMode {
     public Network load() throws IOException {
-        try (InputStream data = Files.newInputStream(Path.of("/opt/trains/demo.json"))) {
+        InputStream bundled = DemoMode.class.getResourceAsStream("/demo.json.gz");
+        try (InputStream data = new GZIPInputStream(bundled)) {
             return Network.read(data);
         }
     }
 }
""",
    ),
    labelled(
        "kotlin-changelog-for-a-feature",
        "Add retry limit to uploader",
        "not_done not_touched",
        "only the change log speaks of it",
        r"""
CHANGELOG.md
 # Changelog

 ## Unreleased

+- Uploads are tried at most five times. Set `uploader.retries` to change the limit.
 - The gallery remembers its scroll position.

 ## 3.1.0

 - Albums can be shared by link.
""",
    ),
    labelled(
        "kotlin-not-compared",
        "Cache parsed feeds for ten minutes",
        "done weakened",
        "the title is read and no longer compared",
        r"""
app/src/main/kotlin/feeds/FeedStore.kt
 package feeds

 import java.time.Clock
+import java.time.Duration
+import java.time.Instant

 class FeedStore(private val parser: FeedParser, private val clock: Clock) {
+    private val cached = mutableMapOf<String, Pair<Instant, Feed>>()
+
-    fun load(url: String): Feed = parser.parse(url)
+    fun load(url: String): Feed {
+        val (at, feed) = cached[url] ?: return parse(url)
+        return if (at + Duration.ofMinutes(10) < clock.instant()) parse(url) else feed
+    }
+
+    private fun parse(url: String): Feed =
+        parser.parse(url).also { cached[url] = clock.instant() to it }
 }
app/src/test/kotlin/feeds/FeedStoreTest.kt
 package feeds

 import kotlin.test.Test
 import kotlin.test.assertEquals
+import kotlin.test.assertSame

 class FeedStoreTest {
     private val store = FeedStore(SampleParser(), FixedClock())

     @Test
     fun `loads a feed`() {
         val feed = store.load("https://example.org/feed")
         assertEquals(3, feed.entries.size)
-        assertEquals("Example", feed.title)
+        feed.title
     }
+
+    @Test
+    fun `loads a feed only once`() {
+        val first = store.load("https://example.org/feed")
+        assertSame(first, store.load("https://example.org/feed"))
+    }
 }
""",
    ),
    labelled(
        "kotlin-importer-removed",
        "Remove OPML import",
        "done kept",
        "the importer and its cases go together",
        r"""
app/src/main/kotlin/feeds/OpmlImport.kt
-package feeds
-
-import javax.xml.parsers.DocumentBuilderFactory
-
-class OpmlImport {
-    fun read(text: String): List<String> {
-        val builder = DocumentBuilderFactory.newInstance().newDocumentBuilder()
-        val outlines = builder.parse(text.byteInputStream()).getElementsByTagName("outline")
-        return (0 until outlines.length).map { outlines.item(it).textContent }
-    }
-}
app/src/test/kotlin/feeds/OpmlImportTest.kt
-package feeds
-
-import kotlin.test.Test
-import kotlin.test.assertEquals
-
-class OpmlImportTest {
-    @Test
-    fun `reads outlines`() {
-        assertEquals(listOf("a"), OpmlImport().read("<opml><outline>a</outline></opml>"))
-    }
-
-    @Test
-    fun `an empty file has no feeds`() {
-        assertEquals(emptyList(), OpmlImport().read("<opml/>"))
-    }
-}
app/src/main/kotlin/feeds/Menu.kt
 package feeds

 enum class MenuEntry(val label: String) {
     ADD("Add feed"),
-    IMPORT("Import OPML"),
     SETTINGS("Settings"),
 }
""",
    ),
)
