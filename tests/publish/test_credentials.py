"""What is a credential: shapes of real ones are found, what stands in real environments is not."""

import base64
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
import yaml
from inspect_ai.log import read_eval_log

from tests.publish.credential_shapes import Shape, shapes
from tiebreak.demo.screen import RECORDED
from tiebreak.publish.secrets import called_by, credentials, environment_secrets, refuse_secrets

ENVIRONMENTS = cast(
    "Mapping[str, Mapping[str, str]]",
    yaml.safe_load(Path(__file__).with_name("environments.yaml").read_text("utf-8")),
)


def missed(shape: Shape, variable: str) -> list[str]:
    """The parts of a shape in which nothing would be found."""
    found = credentials(variable, shape.value)
    return [part for part in shape.parts if not any(one in part for one in found)]


def named(shape: Shape) -> str:
    return shape.name


@pytest.mark.parametrize("shape", shapes(), ids=named)
def test_a_credential_is_found_by_its_name(shape: Shape) -> None:
    assert missed(shape, shape.variable) == []


@pytest.mark.parametrize("shape", [one for one in shapes() if one.neutral], ids=named)
def test_a_credential_is_found_by_its_look_alone(shape: Shape) -> None:
    assert missed(shape, "NOTE") == []


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_nothing_in_an_environment_without_secrets_is_one(name: str) -> None:
    assert list(environment_secrets(ENVIRONMENTS[name])) == []


@pytest.mark.slow
def test_no_word_of_our_own_text_looks_like_one() -> None:
    """Thousands of words that anybody may write: names, options, paths, formulas, addresses."""
    root = Path(__file__).parents[2]
    words: set[str] = set()
    for path in (*root.glob("docs/**/*.md"), *root.glob("src/tiebreak/*/[a-e]*.py")):
        words |= set(re.findall(r"[^\s=]{8,}", path.read_text("utf-8")))
    assert len(words) > 10_000
    assert [word for word in words if ")@" not in word and credentials("NOTE", word)] == []


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("OPENAI_API_KEY", "key"),
        ("OPENAI_API_KEY_2", "key"),
        ("OPENAI_KEYS", "key"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("azureApiKey", "key"),
        ("x-api-key", "key"),
        ("TOGETHER_APIKEY", "key"),
        ("HF_TOKEN2", "key"),
        ("authToken", "password"),
        ("AWS_SECRET_ACCESS_KEY", "password"),
        ("PGPASSWORD", "password"),
        ("PGPASS", "password"),
        ("DB_PWD", "password"),
        ("LAB_CREDS", "password"),
        ("Authorization", "password"),
        ("PWD", ""),
        ("MAX_TOKENS", ""),
        ("TOKENIZERS_PARALLELISM", ""),
        ("HF_TOKEN_PATH", ""),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", ""),
        ("TIEBREAK_JWT_PUBLIC_KEY", ""),
        ("API_KEY_HEADER", ""),
        ("KEYBOARD_LAYOUT", ""),
        ("MONKEY", ""),
        ("COMPASS", ""),
        ("GIT_AUTHOR_NAME", ""),
        ("SLACK_WEBHOOK", "hook"),
        ("SLACK_WEBHOOK_URL", "hook"),
        ("DEPLOY_HOOKS", "hook"),
        ("WEBHOOK_SECRET", "password"),
        ("HOOKAH", ""),
        ("GPG_KEY", "id"),
        ("GPG_PRIVATE_KEY", "key"),
        ("sort_key", "id"),
        ("KEY", "key"),
        ("think_end_token", "id"),
        ("GITHUB_SHA", "id"),
        ("eval_id", "id"),
        ("private_key_id", "key"),
        ("", ""),
        ("_", ""),
    ],
)
def test_what_a_name_says(name: str, called: str) -> None:
    assert called_by(name) == called


ENCODED = base64.b64encode(b"user:long-pass-1").decode()


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        # A word under the name of a password is one; under that of a key it is a stand-in.
        ("DB_PASSWORD", "wordsecret", {"wordsecret"}),
        ("API_KEY", "placeholder", set()),
        ("API_KEY", "sk-123456", {"sk-123456"}),
        # Of any look, from eight characters on; a part of a list may be anybody's word.
        ("LLM_KEY", "plainlookingkey", {"plainlookingkey"}),
        ("LLM_KEY", "87654321", {"87654321"}),
        ("LLM_KEYS", "research-1, evaluation", {"research-1, evaluation", "research-1"}),
        ("SETTINGS", '{"llm_key": "plainlookingkey"}', {"plainlookingkey"}),
        ("NOTE", "mend key=something", set()),
        ("API_KEY", "not-needed", set()),
        ("OPENAI_API_KEY", "lm-studio", set()),
        ("LLM_KEY", "20261122", set()),
        ("LLM_TOKEN", "15000000", set()),
        ("eos_token", "<|endoftext|>", set()),
        # What everybody has read, or anybody writes, would stop publications for nothing.
        ("DATABASE_URL", "postgres://postgres:postgres@localhost/postgres", set()),
        ("DATABASE_URL", "postgres://u:changeme@localhost/x", set()),
        ("DB_PASSWORD", "12345678", set()),
        ("SECRET_STORE", "/run/secrets/of-the-lab", set()),
        ("GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305", set()),
        # Passwords with characters that addresses do not allow.
        ("URL", "mysql://u:p@ss/w#rd?x@h/db", {"p@ss/w#rd?x"}),
        ("URL", "mysql://u:pass[word@h/db", {"pass[word"}),
        ("URL", "mysql://u:pass;word,1@h/db", {"pass;word,1"}),
        ("URL", "mysql://u:p%40ssw0rd@h/db", {"p%40ssw0rd", "p@ssw0rd"}),
        ("URL", "mysql://ada:pw@db.lab/x", {"ada:pw@db.lab"}),  # too short alone
        # Two in one value.
        ("URLS", "redis://:secret-1@a,redis://:secret-2@b", {"secret-1", "secret-2"}),
        # Beside other things.
        ("ARGS", "--model x/y --api-key token-abc123 --port 8000", {"token-abc123"}),
        ("H", "X-Api-Key: opaque-1, Accept: application/json", {"opaque-1"}),
        ("X", "user=ada password=two-words timeout=10000000", {"two-words"}),
        ("COMMIT", "Mend auth: re-authenticate with the token that was given", set()),
        ("X", f"Authorization: Basic {ENCODED}", {ENCODED, "long-pass-1"}),
        ("X", '{"a": [{"client_secret": "in-json-1"}], "n": 3, "b": null}', {"in-json-1"}),
        ("X", '{"client_secret": "not closed', set()),
        # What names something is public; a mark tells of a key even there.
        ("RUN_ID", "nY2Ywh3Qy2MnXkQ8pQ2q3d", set()),
        ("RUN", "nY2Ywh3Qy2MnXkQ8pQ2q3d", {"nY2Ywh3Qy2MnXkQ8pQ2q3d"}),
        ("LOG", "logs/2026-11-22_seal_nY2Ywh3Qy2MnXkQ8pQ2q3d.eval", set()),
        ("LOGS", "s3://lab/2026-11-22_seal_nY2Ywh3Qy2MnXkQ8pQ2q3d.eval", set()),
        ("CLIENT_ID", f"AKIA{'Q7ZK' * 4}", {f"AKIA{'Q7ZK' * 4}"}),
        ("X", "sk-test-1234567890", {"sk-test-1234567890"}),
        ("X", "sk-learn-like-interface", set()),
        # Public parts of keys.
        ("JWT_KEY", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n", set()),
        ("DEPLOY_KEY", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIoqW9x7ZzQ0b3Jv ada@lab", set()),
        ("EMPTY_TOKEN", "", set()),
        ("EMPTY_TOKEN", "        ", set()),
    ],
)
def test_what_of_a_value_is_one(name: str, value: str, found: set[str]) -> None:
    assert found <= credentials(name, value)
    longer = {one for one in credentials(name, value) if not any(part in one for part in found)}
    assert longer == set(), "and nothing beside it"


def test_this_environment_stops_nothing_that_it_does_not_hold() -> None:
    """Whatever stands in the variables here: text of a usual publication is not refused."""
    harmless = "\n".join(value for one in ENVIRONMENTS.values() for value in one.values())
    refuse_secrets({"a.txt": harmless.encode()}, environment_secrets(os.environ))


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/lab/x/commit/9cefc80b1d4a7e5f3c2b8a6d0e9f1c4b7a5d3e21",
        "https://huggingface.co/datasets/lab/rankings/resolve/9cefc80b1d4a7e5f3c2b8a6d0e9f1c4b7a5d3e21/x",
        "https://wandb.ai/lab/saturated-benchmarks-reranked/runs/3k9x8q2p",
        "https://smith.langchain.com/o/3f2a9c1e-8b7d-4e6f-a5c4-0d1e2f3a4b5c/projects",
        "https://lab.openai.azure.com/openai/deployments/gpt-4o-mini-20240718/chat/completions",
        "https://api.cloudflare.com/client/v4/accounts/5f1d0b7a9c3e4b2f8a6d7c0e1f2a3b4c/ai/v1",
        "https://llm.example.org/v1/models/Llama-4-Maverick-17B-128E-Instruct-FP8",
        "https://ci.example.org/hooks/build",
        "https://ci.example.org/hooks/lab-evaluations-rankings-2026",
        "https://docs.example.org/webhooks/getting-started",
        "https://login.example.org/realms/lab/protocol/openid-connect/token",
        "https://developer.mozilla.org/en-US/docs/Web/API/ServiceWorkerRegistration",
        "https://objects.example.org/lab/rankings2026november22",
        "https://pypi.org/project/opentelemetry-instrumentation-asgi/",
        "https://doi.org/10.48550/arXiv.2406.01574",
    ],
)
def test_an_address_that_anybody_may_write_is_none(address: str) -> None:
    assert credentials("LINK", address) == set()


def test_of_a_webhook_the_secret_part_is_told() -> None:
    """Not the ids of the workspace and the channel, and no word of the path."""
    token = "ouakvxw79bvz6e7erju3cx5lgk"
    assert credentials("X", f"https://chat.lab.org/hooks/{token}") == {token}
    assert credentials("X", f"https://hooks.slack.com/services/T0AB1/B0CD2/{token}") == {token}
    assert credentials("X", f"https://chat.lab.org/in/{token}") == {token}
    assert credentials("WEBHOOK", "https://chat.lab.org/in/lab/") == set()
    whole = "hooks.zapier.com/hooks/catch/1234567/b7x9k2a"
    assert credentials("X", f"https://{whole}/") == {whole}


@pytest.mark.slow
def test_ordinary_answers_are_not_refused() -> None:
    """Answers of models in recorded logs, where variables hold stand-ins and names of data."""
    logs = sorted((RECORDED / "candidates").rglob("*.eval"))
    texts = [
        sample.model_dump_json().encode()
        for log in logs
        for sample in read_eval_log(str(log)).samples or []
    ]
    assert sum(map(len, texts)) > 400_000
    variables = {
        **dict.fromkeys(["OPENAI_API_KEY", "LLM_KEY"], "EMPTY"),
        "API_KEY": "placeholder",
        "HF_TOKEN": "not-needed",
        "SORT_KEY": "question",
        "ANSWER_KEY": "solution",
        "eos_token": "<|im_end|>",
        "SEEN_TOKENS": "10000000",
    }
    known = [
        *environment_secrets(variables),
        *(secret for one in ENVIRONMENTS.values() for secret in environment_secrets(one)),
    ]
    refuse_secrets({f"{number}.json": text for number, text in enumerate(texts)}, known)
    assert known == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["a", "a.", "a=", "--a", "eyJ", "://a:", "http://hook/a1/", "a: ", "-----BEGIN A", "[", "aB1"],
)
def test_no_value_takes_long(part: str) -> None:
    started = time.process_time()
    credentials("X_KEY", part * (20_000 // len(part)))
    assert time.process_time() - started < 0.5


def test_of_a_long_one_any_part_is_enough() -> None:
    [key] = [one.value for one in shapes() if one.name == "OpenAI, project"]
    found = credentials("KEY", key)
    for at in range(0, len(key) - 63):
        assert any(piece in key[at : at + 64] for piece in found)
    [pem] = [one.value for one in shapes() if one.name == "private key"]
    pieces = credentials("DEPLOY", pem)
    assert all(re.fullmatch(r"[A-Za-z0-9+/=]{32}", piece) for piece in pieces)
    assert not any(piece in pem[:130] for piece in pieces), "the beginning of many keys"


def key_of(pieces: int) -> tuple[str, list[str]]:
    """A private key of so many pieces of 32 characters, two a line."""
    own = [f"{number:02}" + "aB3+" * 7 + "xy" for number in range(pieces)]
    lines = ["".join(own[at : at + 2]) for at in range(0, pieces, 2)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"]), own


@pytest.mark.parametrize("pieces", [1, 2, 3, 4, 5, 8])
def test_a_private_key_is_looked_for_without_its_beginning(pieces: int) -> None:
    """The first three pieces are like those of other keys; of a short key the last one counts."""
    key, own = key_of(pieces)
    assert credentials("X", key) == set(own[3:] or own[-1:])
    assert credentials("X", key.replace("\n", "\\n")) == set(own[3:] or own[-1:])


def test_values_are_told_from_the_shortest_on() -> None:
    assert credentials("DB_PASSWORD", "a1b2c3d") == set()
    assert credentials("DB_PASSWORD", "a1b2c3d4") == {"a1b2c3d4"}
    # Ten digits are a password of a machine's, fewer are a number that any text may hold.
    assert credentials("API_KEY", "123456789") == set()
    assert credentials("API_KEY", "1234567890") == {"1234567890"}


def test_a_long_credential_is_looked_for_in_pieces() -> None:
    known = "hf_" + "".join(f"aB{number}dE" for number in range(10, 27))
    pieces = {known[at : at + 32] for at in range(0, len(known) - 31, 32)}
    assert len(pieces) > 2
    assert pieces <= credentials("X", known)
    assert known not in credentials("X", known)
    assert known[:64] in credentials("X", known[:64])
    assert {known[:32], known[32:64]} <= credentials("X", known[:65])
    assert known[:65] not in credentials("X", known[:65])
