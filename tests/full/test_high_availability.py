"""The recipe of ops/patroni and ops/pgbackrest on loopback: three nodes, a real API, and bad days.

The tests run in their order on one cluster: what one leaves, the next one finds.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import psycopg
import pytest

from bench.failover import Writers
from ops.postgres.image import USER_ID, image
from tests.acceptance.killpoints import Rig, free_port, wait_until
from tests.full.patroni import EXTRA, NODES, TOP, TTL_S, Patroni

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]
BACKREST = ("/usr/bin/pgbackrest", "--stanza=memsvc")


@dataclass
class World:
    """The cluster, and an API before it."""

    cluster: Patroni
    rig: Rig
    key: str

    def writers(self, prefix: str) -> Writers:
        """Clients of the API."""
        return Writers(self.rig.port, self.key, prefix)

    def post(self, path: str, body: Mapping[str, object]) -> httpx.Response:
        """Ask the API."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.post(f"{self.rig.url}{path}", json=body, headers=headers, timeout=60)

    def stored(self) -> set[str]:
        """All texts that the primary has."""
        with psycopg.connect(self.cluster.url("memsvc")) as admin:
            return {text for (text,) in admin.execute("SELECT text FROM memsvc.passages")}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A cluster of three, whose replicas were made from the backup of the first."""
    top = Path(tempfile.mkdtemp(prefix="memsvc-ha-", dir="/tmp"))
    top.chmod(0o755)
    try:
        with Patroni(top / "home") as cluster, Rig(top / "data", embedding_model="") as rig:
            cluster.start("etcd")
            cluster.start("node1")
            assert cluster.primary() == "node1"
            cluster.run("node1", *BACKREST, "stanza-create")
            one = cluster.url("memsvc", "node1").replace("target_session_attrs=read-write", "connect_timeout=5")
            every = [one.replace(str(cluster.ports["node1"]), str(cluster.ports[name])) for name in NODES]
            rig.environment |= {
                "MEMSVC_DATABASE_URL": cluster.url("memsvc"), "MEMSVC_REPLICA_URLS": " ".join(every)
            }  # fmt: skip
            rig.ok("db", "upgrade")
            rig.ok("user", "add", "--name", "Ada", "--external-id", "ada")
            cluster.run("node1", *BACKREST, "backup")
            cluster.start("node2")
            cluster.start("node3")
            wait_until(lambda: cluster.synchronous() and all(map(cluster.role, NODES)), seconds=120)
            key = rig.ok("key", "create", "--user", "ada").strip()
            rig.serve("api")
            yield World(cluster, rig, key)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def say(line: str) -> None:
    """Print a figure; pytest shows it with -s."""
    sys.stdout.write(f"{line}\n")


def again(writers: Writers, since: float, seconds: float = 120) -> float:
    """Seconds from a moment until a write that was sent after it is acknowledged."""

    def there() -> bool:
        return any(sent > since for _, sent, _ in writers.acknowledged)

    wait_until(there, seconds=seconds, pause=0.05)
    return min(at for _, sent, at in writers.acknowledged if sent > since) - since


def longest_silence(writers: Writers, since: float) -> float:
    """The longest time in which nothing was acknowledged, in seconds."""
    times = sorted(at for _, _, at in writers.acknowledged if at > since)
    return max(later - earlier for earlier, later in itertools.pairwise([since, *times]))


def test_the_configuration_is_what_patroni_knows(world: World) -> None:
    """Its own check objects to nothing but addresses of loopback, which no real node has."""
    with pytest.raises(AssertionError) as found:
        world.cluster.run("node1", "/usr/bin/patroni", "--validate-config", "/srv/node1/patroni.yml")
    said = str(found.value).replace("\\n", "\n")
    ours = {f"{part}.{what}" for part in ("restapi", "postgresql") for what in ("connect_address", "listen")}
    assert set(re.findall(r"([\w.]+) \S+ didn", said)) <= ours, said  # it runs already, so its ports are in use
    example = (TOP / "ops" / "patroni" / "node.env.example").read_text()
    names = set(re.findall(r"^([A-Z0-9_]+)=", example, re.MULTILINE))
    theirs = {name for name in world.cluster.environment("node1") if name.startswith(("PATRONI_", "PGBACKREST_REPO"))}
    assert theirs - names == {"PATRONI_RESTAPI_LISTEN", "PATRONI_POSTGRESQL_LISTEN", "PATRONI_POSTGRESQL_DATA_DIR",
                              "PATRONI_POSTGRESQL_PGPASS"}, "only these are loopback's own"  # fmt: skip


def test_replicas_are_made_from_the_backup(world: World) -> None:
    for name in ("node2", "node3"):
        assert "replica has been created using pgbackrest" in world.cluster.said(name)
    world.cluster.run("node1", *BACKREST, "check")


def test_a_switchover_and_a_killed_primary_lose_nothing_that_was_acknowledged(world: World) -> None:
    cluster, writers = world.cluster, world.writers("bad days")
    with writers.working():
        time.sleep(3)
        first, began = cluster.primary(), time.monotonic()
        [standby] = cluster.synchronous()
        cluster.run(
            first, "/usr/bin/patronictl", "-c", f"/srv/{first}/patroni.yml", "switchover", "--force",
            "--leader", first, "--candidate", standby,
        )  # fmt: skip
        wait_until(lambda: cluster.role(standby) == "primary", seconds=60)
        again(writers, time.monotonic())
        switched = longest_silence(writers, began)
        wait_until(cluster.synchronous, seconds=120)
        time.sleep(3)
        began = time.monotonic()
        cluster.kill(standby)
        assert cluster.primary() != standby
        again(writers, time.monotonic())
        killed = longest_silence(writers, began)
    cluster.start(standby)
    wait_until(lambda: cluster.role(standby) == "replica", seconds=180)
    texts = {text for text, _, _ in writers.acknowledged}
    say(f"acknowledged {len(texts)}; again after a switchover {switched:.1f} s, after a kill {killed:.1f} s")
    assert len(texts) == len(writers.acknowledged)
    assert texts <= world.stored()
    assert killed < TTL_S + 20


def test_without_etcd_the_primary_goes_on_and_steps_down_only_when_a_node_is_gone_too(world: World) -> None:
    cluster, writers = world.cluster, world.writers("no etcd")
    wait_until(cluster.synchronous, seconds=120)
    primary = cluster.primary()
    with writers.working():
        cluster.kill("etcd")
        time.sleep(TTL_S + 10)
        began = time.monotonic()
        assert again(writers, began, seconds=10) < 5, "it still takes writes"
        assert cluster.role(primary) == "primary"
        lost = next(name for name in NODES if name != primary and name not in cluster.synchronous())
        cluster.kill(lost)
        wait_until(lambda: cluster.role(primary) == "replica", seconds=120)
    for path, body in (("messages", {"conversation": "c", "text": "refused"}), ("recall", {"query": "heron"})):
        refused = world.post(f"/v1/{path}", body)  # a recall, too: keys are read from the primary alone
        assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
    more = world.writers("etcd is back")
    began = time.monotonic()
    cluster.start("etcd")
    cluster.start(lost)
    with more.working():
        back = again(more, began, seconds=180)
    say(f"writes again {back:.1f} s after etcd came back")
    assert {text for text, _, _ in (*writers.acknowledged, *more.acknowledged)} <= world.stored()
    wait_until(lambda: all(map(cluster.role, NODES)), seconds=180)


def test_compose_leads_to_the_primary_through_pgbouncer_and_haproxy(world: World) -> None:
    """What ops/ha starts beside the nodes, by its own script and files."""
    cluster, here = world.cluster, world.cluster.home / "ha"
    here.mkdir()
    front, pooler = free_port(), free_port()
    proxy = (TOP / "ops" / "ha" / "haproxy.cfg").read_text().replace("bind *:5432", f"bind 127.0.0.1:{front}")
    for name in NODES:
        theirs = f"{name}:5432 check port 8008"
        assert theirs in proxy
        proxy = proxy.replace(theirs, f"127.0.0.1:{cluster.ports[name]} check port {cluster.doors[name]}")
    pool = (TOP / "ops" / "ha" / "pgbouncer.ini").read_text()
    for theirs, ours in {
        "host=database port=5432": f"host=127.0.0.1 port={front}", "listen_addr = *": "listen_addr = 127.0.0.1",
        "listen_port = 6432": f"listen_port = {pooler}", "/run/memsvc": "/srv/ha",
    }.items():  # fmt: skip
        assert theirs in pool
        pool = pool.replace(theirs, ours)
    password = json.loads((world.rig.data / "secrets.json").read_text())["app_password"]
    (here / "haproxy.cfg").write_text(proxy)
    (here / "pgbouncer.ini").write_text(pool)
    (here / "memsvc_app_password").write_text(password)
    shutil.copy(TOP / "ops" / "ha" / "start.sh", here)
    cluster.give(here, *here.iterdir())
    given = cluster.environment("haproxy") | {"SECRETS": "/srv/ha", "OWN": "/srv/ha", "ETC": "/srv/ha"}
    for name in ("haproxy", "pgbouncer"):
        cluster.launch(name, ["/bin/sh", "/srv/ha/start.sh", name], given)
    url = f"postgresql://memsvc_app:{quote(password)}@127.0.0.1:{pooler}/memsvc"

    def port_of_the_server() -> int:
        """That of the primary; 0: nobody, or a replica, which HAProxy may choose before its first look at it."""
        with suppress(psycopg.OperationalError), psycopg.connect(url, prepare_threshold=None) as connection:
            found = connection.execute("SELECT inet_server_port() WHERE NOT pg_is_in_recovery()").fetchone()
            return int(found[0]) if found else 0
        return 0

    first = cluster.primary()
    wait_until(lambda: port_of_the_server() == cluster.ports[first], seconds=30)
    cluster.run(first, "/usr/bin/patronictl", "-c", f"/srv/{first}/patroni.yml", "switchover", "--force")
    second = cluster.primary()
    assert second != first
    wait_until(lambda: port_of_the_server() == cluster.ports[second], seconds=60)
    wait_until(lambda: cluster.synchronous() and all(map(cluster.role, NODES)), seconds=120)


@pytest.mark.parametrize("files", [["docker-compose.yml"], ["docker-compose.yml", "ops/ha/docker-compose.yml"]])
def test_compose_reads_its_files(files: list[str], tmp_path: Path) -> None:
    """By Docker Compose of Debian; no engine is needed to read."""
    program = image(EXTRA) / "usr" / "libexec" / "docker" / "cli-plugins" / "docker-compose"
    named = [word for file in files for word in ("--file", str(TOP / file))]
    done = subprocess.run(
        [program, *named, "--profile", "backup", "config", "--format", "json"],
        capture_output=True, text=True, check=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stderr == ""
    services = json.loads(done.stdout)["services"]
    assert {"database", "upgrade", "api", "worker", "backup"} <= set(services)
    for service in services.values():
        assert service["mem_limit"]
        assert service["logging"]["options"]["max-size"]


def test_a_moment_is_restored_beside_the_cluster_and_tells_what_was_erased_since(world: World) -> None:
    cluster, rig = world.cluster, world.rig
    shutil.copy(TOP / "ops" / "pgbackrest" / "drill.sh", cluster.home / "drill.sh")
    rig.ok("user", "add", "--name", "Bob", "--external-id", "bob")
    with psycopg.connect(cluster.url("memsvc"), autocommit=True) as admin:
        moment = str(admin.execute("SELECT clock_timestamp()").fetchall()[0][0])
        time.sleep(0.1)
        rig.ok("forget", "--everything", "--user", "bob", "--yes")
        log = rig.ok("db", "erasures")
        assert len(log.splitlines()) == 1
        users, passages = admin.execute(
            "SELECT (SELECT count(*) FROM memsvc.users), (SELECT count(*) FROM memsvc.passages)"
        ).fetchall()[0]
        admin.execute("SELECT pg_switch_wal()")
    primary = cluster.primary()
    cluster.run(primary, *BACKREST, "check")  # waits until the log is in the repository
    before = cluster.run(primary, "/bin/sh", "/srv/drill.sh", "/srv/before", moment)
    assert f"restored to {moment}: {users + 1} users, {passages} passages" in before
    end = cluster.run(primary, "/bin/sh", "/srv/drill.sh", "/srv/end", KEEP="1")
    try:
        assert f"the end of the log: {users} users, {passages} passages" in end
        place = cluster.home / "end"
        with Rig(rig.data, embedding_model="") as beside:
            beside.environment["MEMSVC_DATABASE_URL"] = f"postgresql://postgres@/memsvc?host={place}"
            assert json.loads(beside.ok("db", "erasures"))["subject"] == json.loads(log)["subject"]
    finally:
        cluster.run(primary, "/usr/lib/postgresql/18/bin/pg_ctl", "stop", "--wait", "--pgdata=/srv/end/pg")
    assert place.stat().st_uid == USER_ID
    assert place.stat().st_mode & 0o077 == 0
    assert world.post("/v1/messages", {"conversation": "c", "text": "the cluster did not notice"}).is_success


def test_a_whole_cluster_goes_back_and_a_mistaken_erasure_is_undone(world: World) -> None:
    """The steps of docs/high-availability.md, "Going back in time"; Bob's erasure in the test before was a mistake."""
    cluster, rig = world.cluster, world.rig
    rig.ok("user", "add", "--name", "Carl", "--external-id", "carl")
    rig.ok("user", "add", "--name", "Dora", "--external-id", "dora")
    dora = next(one["user_id"] for one in users_of(rig) if one["name"] == "Dora")
    with psycopg.connect(cluster.url("memsvc"), autocommit=True) as admin:
        moment = str(admin.execute("SELECT clock_timestamp()").fetchall()[0][0])
        time.sleep(0.1)
        rig.ok("forget", "--everything", "--user", "dora", "--yes")  # the mistake
        rig.ok("forget", "--everything", "--user", "carl", "--yes")
        log = rig.cwd / "since.jsonl"
        log.write_text(rig.ok("db", "erasures"))
        admin.execute("SELECT pg_switch_wal()")
    node = cluster.primary()
    cluster.run(node, *BACKREST, "check")
    for part in rig.parts:
        rig.kill(part)
    for name in NODES:
        cluster.kill(name)
    said = cluster.run(node, "/bin/sh", "/srv/drill.sh", f"/srv/{node}/back", moment)
    assert f"restored to {moment}" in said
    for name in NODES:
        (cluster.home / name / "pg").rename(cluster.home / name / "old")
    (cluster.home / node / "back" / "pg").rename(cluster.home / node / "pg")
    (cluster.home / node / "pg" / "postgresql.auto.conf").write_text("")
    time.sleep(TTL_S)  # until etcd knows that nobody is primary any more
    agreed = "memsvc\nYes I am aware\n"
    cluster.run(node, "/usr/bin/patronictl", "-c", f"/srv/{node}/patroni.yml", "remove", "memsvc", says=agreed)
    cluster.start(node)
    assert cluster.primary() == node
    assert {one["name"] for one in users_of(rig)} >= {"Carl", "Dora"}
    assert "Erased again: 1;" in rig.ok("db", "erase-again", str(log), "--except", dora)
    assert {one["name"] for one in users_of(rig)} & {"Bob", "Carl", "Dora"} == {"Dora"}
    rig.serve("api")
    assert world.post("/v1/messages", {"conversation": "c", "text": "after going back"}).is_success
    cluster.run(node, *BACKREST, "backup")
    others = [name for name in NODES if name != node]
    for name in others:
        cluster.start(name)
    wait_until(lambda: cluster.synchronous() and all(map(cluster.role, NODES)), seconds=180)
    assert world.post("/v1/messages", {"conversation": "c", "text": "three nodes again"}).is_success


def users_of(rig: Rig) -> list[dict[str, str]]:
    """All users, as the command lists them."""
    found: list[dict[str, str]] = json.loads(rig.ok("user", "list", "--json"))
    return found
