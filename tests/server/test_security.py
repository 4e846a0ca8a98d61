"""Who may use the port: each refusal, and the honest request beside it."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from commanding import command
from patience import PATIENCE, wait_for
from serving import make_repository, read_to_end, serving, tool_call

from dos.server import http
from dos.server.io.client import connect

OWN = {"Sec-Fetch-Site": "same-origin", "X-Dos": "1"}


def enter(server) -> str:
    """The cookie that a browser gets for the token."""
    status, headers, _ = server.request("GET", f"/?token={server.token}", bearer=False)
    assert (status, headers["location"]) == (303, "/")
    cookie, *attributes = headers["set-cookie"].split("; ")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert server.token not in cookie
    return cookie


# What is sent beside the token, and the answer.
BY_HEADERS = {
    "an honest program": ({}, 200),
    "a name that resolves to loopback": ({"Host": "evil.example"}, 421),
    "that name with the port": ({"Host": "evil.example:{port}"}, 421),
    "another port": ({"Host": "127.0.0.1:1"}, 421),
    "no port": ({"Host": "127.0.0.1"}, 421),
    "localhost": ({"Host": "localhost:{port}"}, 200),
    "a page of another site": ({"Origin": "https://evil.example"}, 403),
    "a page of another port": ({"Origin": "http://127.0.0.1:1"}, 403),
    "a sandboxed page": ({"Origin": "null"}, 403),
    "its own page": ({"Origin": "http://127.0.0.1:{port}"}, 200),
    "an image of another site": ({"Sec-Fetch-Site": "cross-site"}, 403),
    "an image of another port": ({"Sec-Fetch-Site": "same-site"}, 403),
    "what its own page loads": ({"Sec-Fetch-Site": "same-origin"}, 200),
    "a wrong token": ({"Authorization": "Bearer wrong"}, 401),
    "an empty token": ({"Authorization": "Bearer "}, 401),
    "another scheme": ({"Authorization": "Basic {token}"}, 401),
    "the token": ({"Authorization": "bearer {token}"}, 200),
}


@pytest.mark.parametrize(("headers", "status"), BY_HEADERS.values(), ids=BY_HEADERS)
def test_a_request_is_judged_by_its_headers(server, headers, status):
    filled = {
        name: value.format(port=server.port, token=server.token) for name, value in headers.items()
    }
    assert server.request("GET", "/api/version", headers=filled)[0] == status


def test_without_the_token_nothing_is_told(server):
    for path in ("/", "/api/version", "/events", "/nothing"):
        status, _, body = server.request("GET", path, bearer=False)
        assert status == 401 and b"dos web" in body
    assert server.request("GET", "/?token=wrong", bearer=False)[0] == 401
    assert server.request("POST", f"/mcp?token={server.token}", body=b"{}", bearer=False)[0] == 401
    again = f"/?token={server.token}&token={server.token}"
    assert server.request("GET", again, bearer=False)[0] == 401


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(server):
    cookie = enter(server)
    status, _, page = server.request("GET", "/", bearer=False, headers={"Cookie": cookie})
    assert status == 200 and b"/api/" in page
    assert cookie.startswith(f"dos_session_{server.port}="), "one for each server of a machine"
    other = {"Cookie": f"dos_session_{server.port}=wrong"}
    assert server.request("GET", "/", bearer=False, headers=other)[0] == 401
    token = {"Cookie": f"dos_session_{server.port}={server.token}"}
    assert server.request("GET", "/", bearer=False, headers=token)[0] == 401
    status, headers, _ = server.request("GET", f"//evil?token={server.token}&a=b", bearer=False)
    assert (status, headers["location"]) == (303, "/?a=b")


BROWSER = """import os, sys
with open(os.environ["SEEN"], "w") as seen:
    seen.write(sys.argv[1])
"""


def test_a_browser_is_started_without_the_token_and_enters_all_the_same(server, tmp_path):
    """What a program was started with is seen by all users of the machine."""
    program = tmp_path / "browser"
    program.write_text(f"#!{sys.executable}\n{BROWSER}")
    program.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(program), "SEEN": str(tmp_path / "seen")}
    done = subprocess.run(
        command("web", "open"), cwd=server.root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    wait_for((tmp_path / "seen").exists)
    wait_for(lambda: (tmp_path / "seen").read_text())
    opened = (tmp_path / "seen").read_text()
    assert server.token not in opened
    page = Path(urlsplit(opened).path)
    assert page.stat().st_mode & 0o777 == 0o600
    (address,) = set(re.findall(r"http://[^\"]+", page.read_text()))
    assert address == f"http://127.0.0.1:{server.port}/?token={server.token}"
    # A browser says that a file led it there, and takes the cookie along from the next page on.
    led = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    path = address.partition(str(server.port))[2]
    status, headers, body = server.request("GET", path, bearer=False, headers=led)
    assert status == 200 and b'url=/"' in body and server.token.encode() not in body
    cookie = {"Cookie": headers["set-cookie"].partition(";")[0], "Sec-Fetch-Site": "same-origin"}
    assert server.request("GET", "/", bearer=False, headers=cookie)[0] == 200
    # Another site knows no token, and one that a page loads is no address that somebody opens.
    for path in ("/?token=wrong", "/"):
        assert server.request("GET", path, bearer=False, headers=led)[0] == 403
    for mode in ("no-cors", "cors"):
        loaded = {**led, "Sec-Fetch-Mode": mode}
        path = f"/?token={server.token}"
        assert server.request("GET", path, bearer=False, headers=loaded)[0] == 403


WRITES = {
    "a form of another site, with the cookie": ({}, 403),
    "with the header alone": ({"X-Dos": "1"}, 403),
    "with the site alone": ({"Sec-Fetch-Site": "same-origin"}, 403),
    "typed into the address bar": ({"Sec-Fetch-Site": "none", "X-Dos": "1"}, 403),
    "its own page": (OWN, 200),
}


@pytest.mark.parametrize(("headers", "status"), WRITES.values(), ids=WRITES)
def test_a_write_with_a_cookie_comes_from_a_page_of_this_server(server, headers, status):
    event = tool_call(server.root, "web/a")
    sent = {**headers, "Cookie": enter(server)}
    answer = server.request("POST", "/hook/pretool", body=event, headers=sent, bearer=False)
    assert answer[0] == status


def test_every_answer_forbids_what_a_page_does_not_need(server):
    answers = [
        server.request("GET", "/"),
        server.request("GET", "/api/version"),
        server.request("GET", "/", bearer=False),
        server.request("GET", "/nothing"),
        server.request("DELETE", "/mcp"),
    ]
    for status, headers, _ in answers:
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy, status
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert not [name for name in headers if name.startswith("access-control-")]


def test_the_port_is_of_this_machine_alone(server):
    listening = subprocess.run(
        ["cat", f"/proc/{server.process.pid}/net/tcp"], capture_output=True, text=True
    ).stdout
    port = f"{server.port:04X}"
    local = [line.split()[1] for line in listening.splitlines()[1:] if line.split()[3] == "0A"]
    assert [address for address in local if address.endswith(f":{port}")] == [f"0100007F:{port}"]


def raw(server, content: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)
        return read_to_end(client)


MANY = b"".join(b"A%d: b\r\n" % number for number in range(99))
RAW = {
    "no HTTP": (b"hello\r\n\r\n", 400),
    "an old version": (b"GET / HTTP/0.9\r\n\r\n", 400),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 421),
    "a full address": (b"GET http://evil/ HTTP/1.1\r\nHost: {host}\r\n\r\n", 400),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil\r\n\r\n", 400),
    "two lengths": (
        b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        400,
    ),
    "a folded header": (b"GET / HTTP/1.1\r\nHost: {host}\r\n more\r\n\r\n", 400),
    "a space before the colon": (b"GET / HTTP/1.1\r\nHost : {host}\r\n\r\n", 400),
    "chunks": (b"POST / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
    "no length": (b"POST / HTTP/1.1\r\nHost: {host}\r\n\r\n", 411),
    "a negative length": (b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n", 400),
    "too long a body": (
        b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99999999999\r\n\r\n",
        413,
    ),
    "too long a head": (b"GET / HTTP/1.1\r\nA: " + b"x" * http.LONGEST_HEAD + b"\r\n\r\n", 431),
    "too many headers": (b"GET / HTTP/1.1\r\n" + MANY + b"\r\n", 431),
}  # fmt: skip


@pytest.mark.parametrize(("content", "status"), RAW.values(), ids=RAW)
def test_what_is_no_plain_request_is_refused(server, content, status):
    answer = raw(server, content.replace(b"{host}", b"127.0.0.1:%d" % server.port))
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer[:100]


def test_one_connection_carries_several_requests(server):
    head = f"GET /api/version HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += f"Authorization: Bearer {server.token}\r\n"
    answer = raw(server, (head + "\r\n" + head + "Connection: close\r\n\r\n").encode())
    assert answer.count(b"HTTP/1.1 200 OK") == 2


def test_those_without_a_token_are_slowed_down_and_nobody_else(tmp_path):
    with serving(make_repository(tmp_path / "repository")) as server:
        statuses = {server.request("GET", "/", bearer=False)[0] for _ in range(200)}
        assert statuses == {401, 429}
        assert server.request("GET", "/api/version")[0] == 200


def test_silent_and_slow_clients_hinder_nobody(server):
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    unix = []
    try:
        for client in slow:
            client.sendall(b"GET / HT")
        for _ in range(60):
            client = connect(server.location, PATIENCE)
            client.sendall(b'{"v":1,')
            unix.append(client)
        assert server.request("GET", "/api/version")[0] == 200
        assert server.hook("pretool", tool_call(server.root, "web/a"))["stdout"] == ""
    finally:
        for client in (*silent, *slow, *unix):
            client.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_another_user_is_refused_by_the_kernels_word(tmp_path):
    """With the folder opened to it, which it is not: what counts is who connects."""
    root = make_repository(tmp_path / "repository")
    with serving(root) as server:
        script = (
            "import os,socket,sys\n"
            "client = socket.socket(socket.AF_UNIX)\n"
            "if sys.argv[2] == 'other': os.setuid(65534)\n"
            "os.chdir(os.path.dirname(sys.argv[1]))\n"
            "client.connect('socket')\n"
            'client.sendall(b\'{"v":1,"ask":"version"}\\n\')\n'
            "print(client.makefile().read())\n"
        )

        def ask(who):
            words = [sys.executable, "-c", script, str(server.location.socket), who]
            return subprocess.run(words, capture_output=True, text=True)

        assert ask("other").returncode != 0, "the folder is closed to it"
        for folder in (server.location.folder, *server.location.folder.parents):
            if folder != folder.parent:
                folder.chmod(folder.stat().st_mode | 0o055)
        server.location.socket.chmod(0o666)
        other = ask("other")
        assert "user 65534 may not ask" in other.stdout, other
        assert json.loads(ask("same").stdout)["code"] == 0
