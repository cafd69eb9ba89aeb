"""What organisers are given to start a server with names only what there is, and no password.

There is no Docker here: the files are read, and the script that starts everything is run.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import make_url

from tests.cases import some
from tests.fair.bank.postgres import Cluster
from tests.fair.bank.serving import KEYS
from tests.harness import ROOT
from tests.test_commands import check, parse
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.bank.tokens import PRIVATE, PUBLIC, SECRET
from tiebreak.fair.cli.bank import stats
from tiebreak.fair.server.app import create_app
from tiebreak.fair.server.settings import Settings

DEPLOY = ROOT / "deploy"
ENTRYPOINT = DEPLOY / "entrypoint.sh"
PAGE = ROOT / "docs" / "organisers.md"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
SERVER, DATABASE = (COMPOSE["services"][name] for name in ("server", "database"))


[BANK] = (param for param in stats.params if param.name == "url")
KNOWN = {SECRET, PRIVATE, PUBLIC, BANK.envvar, "PGPASSWORD", "TIEBREAK_TOKEN"}


def commands() -> dict[str, list[str]]:
    """Every call of tiebreak in these files."""
    found = {"compose": SERVER["command"]}
    found["image"] = yaml.safe_load(re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.M)[1])  # type: ignore[index]
    return found


def lines() -> list[str]:
    """The command lines of the page, as they run in a container or outside."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("words", commands().values(), ids=commands())
def test_commands_exist(words: list[str]) -> None:
    assert words[0] == "tiebreak"
    parse(main, words[1:])
    assert {"--host=0.0.0.0", "0.0.0.0"} & set(words)
    assert "--development" not in words


def test_command_lines_of_the_page_exist() -> None:
    inside = [re.sub(r"^docker compose run .* server (?=tiebreak )", "", line) for line in lines()]
    ours = [line for line in inside if line.startswith(("tiebreak ", "inspect eval tiebreak/"))]
    assert len(ours) >= 14
    for line in ours:
        check(line)
    services = {
        word
        for line in lines()
        if line.startswith("docker compose")
        for word in shlex.split(line)
        if word in ("server", "database")
    }
    assert services == set(COMPOSE["services"])


def test_variables_and_secrets_exist() -> None:
    given = SERVER["environment"]
    assert {name.removesuffix("_FILE") for name in given} <= KNOWN
    handled = set(re.search(r"for name in (.*); do", ENTRYPOINT.read_text())[1].split())  # type: ignore[index]
    assert {name.removesuffix("_FILE") for name in given if name.endswith("_FILE")} == handled
    for service in (SERVER, DATABASE):
        files = {Path(v).name for k, v in service["environment"].items() if k.endswith("_FILE")}
        assert files == set(service["secrets"]) <= set(COMPOSE["secrets"])
    named = set(re.findall(r"\b(?:TIEBREAK_[A-Z_]+|PG[A-Z]+)\b", PAGE.read_text(encoding="utf-8")))
    assert named <= {*KNOWN, "TIEBREAK_PORT"}


def test_there_is_no_password() -> None:
    for service in (SERVER, DATABASE):
        for name, value in service["environment"].items():
            if re.search("PASSWORD|SECRET|KEY", name):
                assert value.startswith("/run/secrets/")
    assert make_url(SERVER["environment"]["TIEBREAK_BANK"]).password is None
    ignored = (DEPLOY / ".gitignore").read_text(encoding="utf-8").splitlines()
    for secret in COMPOSE["secrets"].values():
        assert secret["file"].removeprefix("./").split("/")[0] + "/" in ignored
    assert "ARG" not in DOCKERFILE
    assert not re.search("SECRET|PASSWORD", DOCKERFILE)


def test_the_server_has_few_rights_and_the_database_no_way_out() -> None:
    users = re.findall(r"^USER (.*)$", DOCKERFILE, re.M)
    assert int(users[-1]) > 0
    assert SERVER["read_only"] is True
    assert SERVER["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in SERVER["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in SERVER["ports"])
    assert "ports" not in DATABASE
    assert DATABASE["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True


def test_ports_health_and_proxy_agree(tmp_path: Path) -> None:
    [port] = SERVER["ports"]
    inner = port.rpartition(":")[2]
    assert f"--port={inner}" in SERVER["command"]
    assert f"EXPOSE {inner}" in DOCKERFILE
    health = some(re.search(r"127\.0\.0\.1:(\d+)(/\w+)", DOCKERFILE))
    assert health[1] == inner
    open_bank(tmp_path / "bank.db", create=True)
    app = create_app(Settings(bank=str(tmp_path / "bank.db"), keys=KEYS))
    assert health[2] in app.openapi()["paths"]
    [network] = COMPOSE["networks"]["outside"]["ipam"]["config"]
    assert f"--proxy={network['gateway']}" in SERVER["command"]
    assert SERVER["depends_on"]["database"]["condition"] == "service_healthy"
    assert "healthcheck" in DATABASE


def test_the_image_is_made_of_what_is_there() -> None:
    assert (DEPLOY / SERVER["build"]["context"]).resolve() == ROOT
    assert (ROOT / SERVER["build"]["dockerfile"]).is_file()
    ignore = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.M):
        *sources, _ = (word for word in line.split() if not word.startswith("--"))
        for source in sources:
            assert (ROOT / source).exists()
            assert f"!{source.removeprefix('./')}" in ignore
    assert os.access(ENTRYPOINT, os.X_OK)


def start(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    own = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run([ENTRYPOINT, *words], env=own, capture_output=True, text=True)


def test_secrets_come_from_files(tmp_path: Path) -> None:
    secret, empty = tmp_path / "se cret", tmp_path / "empty"
    secret.write_text("$(id) ' \" \\ x\n", encoding="utf-8")
    empty.touch()
    done = start("env", TIEBREAK_JWT_SECRET_FILE=str(secret), PGPASSWORD="given")
    assert "TIEBREAK_JWT_SECRET=$(id) ' \" \\ x\n" in done.stdout
    assert "PGPASSWORD=given\n" in done.stdout
    assert "_FILE" not in done.stdout
    assert start("printf", "%s|", "a b", "*").stdout == "a b|*|"
    for wrong in (empty, tmp_path / "nowhere"):
        refused = start("env", PGPASSWORD_FILE=str(wrong))
        assert refused.returncode == 1
        assert f"PGPASSWORD_FILE names {wrong}, which is empty or cannot be read" in refused.stderr


@pytest.mark.slow
def test_a_token_as_the_container_makes_it(cluster: Cluster, tmp_path: Path) -> None:
    """The bank in PostgreSQL, secrets from files, the command by a process of its own."""
    cluster.empty()
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef0123456789abcdef\n", encoding="utf-8")
    words = [sys.executable, "-c", "from tiebreak.cli.verbs import main; main()", "bank"]
    environment = {"TIEBREAK_BANK": cluster.url, "TIEBREAK_JWT_SECRET_FILE": str(secret)}
    environment |= {"PGPASSWORD_FILE": str(secret), "PYTHONPATH": os.pathsep.join(sys.path)}
    quota = start(*words, "quota", "example.org", "10", **environment)
    assert "10 questions granted" in quota.stdout, quota.stderr
    token = start(*words, "token", "--user", "a", "--institution", "example.org", **environment)
    assert token.stdout.count(".") == 2, token.stderr
