"""docs/deploy.md and the files beside it do what they say."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from crubric_core import Workspace
from crubric_core.jobs.backups import Backups
from crubric_core.sharing import open_view, publish
from tests.security.conftest import CANARY, Study
from tests.security.servers import PATIENCE, ROOT, Server, Talk, command, free_port, rerun, started

DEPLOY = ROOT / "docs" / "deploy"
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
UNITS = sorted(DEPLOY.glob("*.service"))


def needs(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def here(text: str) -> str:
    """A file of docs/deploy for this very checkout."""
    program = f"{sys.executable} -m crubric_core"
    return text.replace("/opt/rubric/.venv/bin/crubric", program).replace("/opt/rubric", str(ROOT))


def setting(unit: Path, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", unit.read_text("utf-8"), flags=re.MULTILINE)


@contextmanager
def service(unit: Path, folder: Path, state: Path, *options: str) -> Iterator[Server]:
    """The command of a unit with its environment, on a free port."""
    port = free_port()
    (line,) = setting(unit, "ExecStart")
    arguments = [*shlex.split(re.sub(r"--port \d+", f"--port {port}", here(line))), *options]
    environment = dict(one.split("=", 1) for one in setting(unit, "Environment"))
    environment = {name: value.replace("/var/lib/rubric", str(state)) for name, value in environment.items()}
    with started(folder / "log", arguments, port, **environment) as server:
        yield server


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_takes_the_units_and_finds_them_well_sealed(unit: Path, tmp_path: Path) -> None:
    analyze, copy = needs("systemd-analyze"), tmp_path / unit.name
    copy.write_text(here(unit.read_text("utf-8")))
    for verb in (["verify"], ["security", "--offline=true", "--threshold=20"]):
        done = subprocess.run([analyze, *verb, copy], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == ""


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
@pytest.mark.parametrize(
    "name", ["MemoryMax", "LimitNOFILE", "TasksMax", "TimeoutStartSec", "TimeoutStopSec", "RestartSec"]
)
def test_a_service_has_an_end_to_what_it_may_use(unit: Path, name: str) -> None:
    (value,) = setting(unit, name)
    assert re.fullmatch(r"[1-9]\d*G?", value)


def test_the_viewers_unit_serves_its_views_under_its_name_alone(study: Study, tmp_path: Path) -> None:
    with service(DEPLOY / "rubric-viewer.service", tmp_path, study.folder) as server:
        assert server.request("/", headers={"Host": "views.example.org"})[0] == 200
        assert server.request("/", headers={"Host": "rubric.example.org"})[0] == 421
        with asked_by(server.port, f"http://views.example.org:{server.port}") as reader:
            assert CANARY.encode() in reader(study.link.token)
        with pytest.raises(InvalidStatus, match="403"), asked_by(server.port, "https://evil.example"):
            pass


@contextmanager
def asked_by(
    port: int, origin: str, context: ssl.SSLContext | None = None
) -> Iterator[Callable[[str], bytes]]:
    """A page of ``origin`` that has its socket to views.example.org: asks for a link, returns what it hears."""
    scheme = "wss" if context else "ws"
    with connect(
        f"{scheme}://views.example.org:{port}/_stcore/stream?view=secret",
        sock=socket.create_connection(("127.0.0.1", port)),
        origin=Origin(origin),
        ssl=context,
        max_size=None,
        open_timeout=PATIENCE,
    ) as opened:

        def ask(token: str) -> bytes:
            opened.send(rerun(query_string=f"view={token}").SerializeToString())
            heard = b""
            while (
                ForwardMsg.FromString(said := opened.recv(timeout=30)).WhichOneof("type") != "script_finished"
            ):
                heard += said
            return heard

        yield ask


def test_a_viewer_runs_where_nothing_at_all_can_be_written(study: Study, tmp_path: Path) -> None:
    seal = "mount --bind / / && mount -o remount,ro,bind / / && ! touch {0} 2>/dev/null && exec {1}"
    port = free_port()
    sealed = seal.format(tmp_path / "written", shlex.join(command(port)))
    inside = [needs("unshare"), "--mount", "sh", "-c"]
    if subprocess.run([*inside, seal.format(tmp_path / "written", "true")], capture_output=True).returncode:
        pytest.skip("this machine does not let a test make its file system read-only")
    environment = {"CRUBRIC_ROLE": "viewer", "CRUBRIC_VIEWS": str(study.views)}
    with started(tmp_path / "log", [*inside, sealed], port, **environment) as server, Talk(server) as reader:
        reader.run(query_string=f"view={study.link.token}")
        assert CANARY.encode() in reader.said()
        assert "Traceback" not in server.log.read_text()


def test_the_dashboards_unit_starts_with_the_example_of_secrets(tmp_path: Path) -> None:
    state, secrets = tmp_path / "state", DEPLOY / "secrets.toml"
    (state / "workspace").mkdir(parents=True)
    unit = DEPLOY / "rubric-editor.service"
    with service(unit, tmp_path, state, "--secrets.files", str(secrets)) as server:
        assert server.request("/", headers={"Host": "rubric.example.org"})[0] == 200


def test_the_dashboards_unit_does_not_start_without_secrets(tmp_path: Path) -> None:
    (line,) = setting(DEPLOY / "rubric-editor.service", "ExecStart")
    arguments = [*shlex.split(here(line)), "--secrets.files", str(tmp_path / "none.toml")]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Not started." in done.stderr) == (1, True)


def script(name: str, state: Path, *arguments: str) -> Path:
    done = subprocess.run(
        [DEPLOY / name, *arguments],
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "STATE": str(state),
            "BACKUPS": str(state / "backups"),
            "CRUBRIC": f"{sys.executable} -m crubric_core",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return Path(done.stdout.strip())


def test_a_backup_brings_back_the_workspace_and_its_links(study: Study, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    shutil.copy(study.workspace, tmp_path / "workspace" / "study.duckdb")
    kept, views = tmp_path / "workspace" / "study.duckdb", tmp_path / "views"
    link = publish(study.view, views)
    with Workspace(kept) as workspace:
        before = workspace.datasets()["fingerprint"].tolist()
    with Workspace(kept) as workspace:  # the dashboard goes on meanwhile
        answering = Backups(workspace, every=0.1)
        try:
            archive = script("backup.sh", tmp_path)
        finally:
            answering.close()
    assert sorted(p.name for p in (tmp_path / "backups").iterdir()) == [archive.name]
    assert link.token.encode() not in archive.read_bytes()
    assert archive.stat().st_mode & 0o077 == 0

    kept.write_bytes(b"damaged")
    shutil.rmtree(views)
    beside = script("restore.sh", tmp_path, str(archive))
    with Workspace(kept) as workspace:
        assert workspace.datasets()["fingerprint"].tolist() == before
    view = open_view(views, link.token)
    assert view is not None
    assert view.title == study.view.title
    assert (beside / "workspace.before" / "study.duckdb").read_bytes() == b"damaged"


def certificate(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    made = ["-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem", "-days", "1"]
    request = [needs("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"]
    subprocess.run([*request, *made], check=True, capture_output=True)


def test_nginx_passes_a_view_over_tls_and_keeps_its_secret_out_of_the_log(
    study: Study, tmp_path: Path
) -> None:
    nginx, plain, tls = needs("nginx"), free_port(), free_port()
    for name in ("rubric.example.org", "views.example.org"):
        certificate(tmp_path / "live" / name, name)
    with service(DEPLOY / "rubric-viewer.service", tmp_path, study.folder) as server:
        site = (DEPLOY / "nginx.conf").read_text("utf-8")
        for old, new in {
            "/etc/letsencrypt": str(tmp_path),
            "/var/log/nginx": str(tmp_path),
            "listen 80;": f"listen {plain};",
            "listen 443 ssl": f"listen {tls} ssl",
            "127.0.0.1:8502": f"127.0.0.1:{server.port}",
        }.items():
            site = site.replace(old, new)
        main = tmp_path / "nginx.conf"
        temporary = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy"))
        main.write_text(
            f"pid {tmp_path}/pid; error_log {tmp_path}/error.log; daemon off; master_process off;"
            f"events {{}} http {{ {temporary} {site} }}"
        )
        process = subprocess.Popen([nginx, "-p", tmp_path, "-e", tmp_path / "error.log", "-c", main])
        try:
            heard = through_the_proxy(tls, study.link.token)
            for _ in range(200):  # a line is written when its connection has ended
                if "/_stcore/stream" in (tmp_path / "rubric.log").read_text():
                    break
                time.sleep(0.05)
        finally:
            process.terminate()
            process.wait(timeout=10)
    assert CANARY.encode() in heard
    log = (tmp_path / "rubric.log").read_text()
    assert "/_stcore/stream" in log
    assert "?" not in log


def through_the_proxy(port: int, token: str) -> bytes:
    """What a browser at https://views.example.org is sent, as soon as the proxy listens."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    for _ in range(600):
        try:
            with asked_by(port, f"https://views.example.org:{port}", trusting) as reader:
                return reader(token)
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise ConnectionRefusedError


def test_caddy_takes_its_file() -> None:
    done = subprocess.run(
        [needs("caddy"), "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def shell_lines() -> list[list[str]]:
    blocks = re.findall(r"^```bash\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def test_every_command_names_files_and_units_that_there_are() -> None:
    lines = shell_lines()
    assert len(lines) > 10
    for line in lines:
        assert (
            shutil.which(line[0])
            or (ROOT / line[0]).exists()
            or line[0] in {"systemctl", "useradd", "docker"}
        ), line
        for word in line:
            assert not word.startswith("docs/") or (ROOT / word).exists(), word
            assert not re.fullmatch(r"rubric-(editor|viewer)", word) or (DEPLOY / f"{word}.service").exists()


def test_the_command_for_a_cookie_secret_prints_one_that_is_accepted() -> None:
    (line,) = (line for line in shell_lines() if line[0] == "python3")
    done = subprocess.run([sys.executable, *line[1:]], capture_output=True, text=True, check=True)
    assert len(done.stdout.strip()) >= 32
