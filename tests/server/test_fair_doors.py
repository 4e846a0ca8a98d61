"""One client takes nothing from the others, and who asks honestly is answered."""

import asyncio
import socket
import subprocess
import sys

import pytest
from patience import PATIENCE
from serving import decision, make_repository, serving, tool_call

from dos.errors import Refused
from dos.server.io.slots import Slots
from dos.server.rate import Rate, SharedRate
from dos.server.room import FEW, Room

HOLDER = """import os, socket, sys
os.setsid()
os.chdir(os.path.dirname(sys.argv[1]))
held = []
for _ in range(int(sys.argv[2])):
    client = socket.socket(socket.AF_UNIX)
    client.connect("socket")
    client.sendall(sys.argv[3].encode())
    held.append(client)
print("held", flush=True)
sys.stdin.read()
"""


# Who has a place


def fill(room, client, count):
    return [room.enter(client)[0] for _ in range(count)]


def test_the_oldest_idle_connection_of_the_greediest_makes_room():
    room = Room(most=16, most_of_client=12)
    honest = fill(room, "honest", 2)
    greedy = fill(room, "greedy", 10)
    fill(room, "other", 4)
    entered, leaving = room.enter("new")
    assert entered is not None and leaving is greedy[0]
    assert room.enter("new")[1] is greedy[1]
    room.set_idle(greedy[2], is_idle=False, client="greedy")
    assert room.enter("new")[1] is greedy[3], "one that is being answered stays"
    for guest in honest:
        room.leave(guest)
    assert room.enter("new")[1] is None


def test_a_client_has_its_part_and_makes_room_for_itself():
    room = Room(most=40, most_of_client=10)
    greedy = fill(room, "greedy", 10)
    entered, leaving = room.enter("greedy")
    assert entered is not None and leaving is greedy[0]
    for guest in (*greedy[1:], entered):
        room.set_idle(guest, is_idle=False, client="greedy")
    assert room.enter("greedy") == (None, None)
    assert room.is_crowded_by("greedy") and not room.is_crowded_by("honest")
    assert room.enter("honest")[0] is not None


def test_clients_that_are_all_being_answered_leave_places_to_those_with_few():
    room = Room(most=40, most_of_client=20)
    for client in ("one", "two"):
        for guest in fill(room, client, 15):
            room.set_idle(guest, is_idle=False, client=client)
    assert room.enter("one") == (None, None)
    honest = fill(room, "honest", FEW)
    assert None not in honest


# How often


def shared(**changed):
    each = Rate(per_second=10, burst=20)
    return SharedRate(each=each, all_together=Rate(per_second=20, burst=30), little=4, **changed)


def test_who_empties_the_common_bucket_shuts_out_nobody_who_asks_little():
    rate = shared()
    greedy = sum(rate.allows(client, 0.0) for client in "abcd" for _ in range(20))
    assert 30 <= greedy < 50
    assert not rate.allows("a", 0.0)
    assert [rate.allows("honest", 0.0) for _ in range(4)] == [True] * 4
    assert not rate.allows("honest", 0.0), "from here on it is one of many"
    assert rate.allows("a", 1.0), "and buckets refill"


# Who is next


def test_slots_go_to_clients_in_turns():
    async def use():
        slots = Slots(4, 2)
        order = []
        release = asyncio.Event()

        async def work(client):
            async with slots.taken(client):
                order.append(client)
                await release.wait()

        greedy = [asyncio.create_task(work("greedy")) for _ in range(20)]
        await asyncio.sleep(0)
        honest = asyncio.create_task(work("honest"))
        await asyncio.sleep(0)
        assert order == ["greedy", "greedy", "honest"]
        others = [asyncio.create_task(work(name)) for name in ("one", "two", "three")]
        await asyncio.sleep(0)
        assert order[3:] == ["one"]
        greedy[5].cancel()
        release.set()
        await asyncio.gather(*greedy, honest, *others, return_exceptions=True)
        assert set(order[4:7]) >= {"two", "three"}, "a turn for each before a second one"
        assert order.count("greedy") == 19
        async with slots.taken("a"), slots.taken("b"), slots.taken("c"), slots.taken("d"):
            pass  # all slots were given back

    asyncio.run(use())


def test_a_queue_has_an_end_and_is_that_of_one_client():
    async def use():
        slots = Slots(1, 1, most_queued=2)
        async with slots.taken("greedy"):
            queued = [asyncio.create_task(_hold(slots, "greedy")) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(Refused):
                await _hold(slots, "greedy")
            honest = asyncio.create_task(_hold(slots, "honest"))
            await asyncio.sleep(0)
        await asyncio.gather(*queued, honest)

    asyncio.run(use())


async def _hold(slots, client):
    async with slots.taken(client):
        pass


# The real server


@pytest.fixture(scope="module")
def own_server(tmp_path_factory):
    with serving(make_repository(tmp_path_factory.mktemp("shared") / "repository")) as found:
        yield found


def hold(server, count, text):
    """A process in a session of its own that holds connections open."""
    words = [sys.executable, "-c", HOLDER, str(server.location.socket), str(count), text]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=False
    )
    assert process.stdout.readline() == b"held\n"
    return process


WAIT = '{"v":1,"ask":"wait","arguments":{"seconds":50,"until":"question"}}\n'


@pytest.mark.parametrize(("text", "count"), [('{"v":1,', 120), (WAIT, 40)], ids=["idle", "waiting"])
def test_agents_that_hold_the_socket_shut_out_nobody(own_server, text, count):
    holders = [hold(own_server, count, text) for _ in range(6)]
    try:
        for _ in range(5):
            assert own_server.ask("version")["code"] == 0
            event = tool_call(own_server.root, "web/a")
            assert decision(own_server.hook("pretool", event)["stdout"]) == ""
        assert own_server.ask("wait", seconds=0)["code"] in (0, 1, 3)
    finally:
        for process in holders:
            process.kill()
            process.communicate()


def test_connections_without_a_token_make_room(own_server):
    held = []
    try:
        for _ in range(140):
            client = socket.create_connection(("127.0.0.1", own_server.port), PATIENCE)
            held.append(client)
        assert own_server.request("GET", "/api/version")[0] == 200
    finally:
        for client in held:
            client.close()


def test_programs_leave_room_to_a_browser(own_server):
    """Each holds connections on which it has shown the token, and streams of events."""
    head = f"Host: 127.0.0.1:{own_server.port}\r\nAuthorization: Bearer {own_server.token}\r\n\r\n"
    held = []
    try:
        for number in range(150):
            client = socket.create_connection(("127.0.0.1", own_server.port), PATIENCE)
            path = "/events" if number < 40 else "/api/version"
            client.sendall(f"GET {path} HTTP/1.1\r\n{head}".encode())
            client.recv(100)
            held.append(client)
        path = f"/?token={own_server.token}"
        status, headers, _ = own_server.request("GET", path, bearer=False)
        assert status == 303
        cookie = {"Cookie": headers["set-cookie"].partition(";")[0]}
        for page in ("/", "/api/version"):
            assert own_server.request("GET", page, bearer=False, headers=cookie)[0] == 200
        browser = socket.create_connection(("127.0.0.1", own_server.port), PATIENCE)
        held.append(browser)
        browser.sendall(
            f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{own_server.port}\r\n"
            f"Cookie: {cookie['Cookie']}\r\n\r\n".encode()
        )
        assert browser.recv(20).startswith(b"HTTP/1.1 200")
    finally:
        for client in held:
            client.close()
