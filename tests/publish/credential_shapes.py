"""Credentials as they stand in environments: their shapes are real, what they hold is made up.

They are put together at run time: a scanner that reads this file finds none.
"""

import base64
import json
import random
import string
import uuid
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote

LETTERS = string.ascii_letters
ALNUM = string.ascii_letters + string.digits
B64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
HEX = "0123456789abcdef"
LOWER36 = string.ascii_lowercase + string.digits
UPPER32 = string.ascii_uppercase + "234567"


@dataclass(frozen=True)
class Shape:
    """A variable that holds credentials: `parts` are what must not be found in what is published.

    `neutral` shapes are told by their look alone, whatever the variable is called.
    """

    name: str
    variable: str
    value: str
    parts: tuple[str, ...]
    neutral: bool


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, letters: str, n: int) -> str:
        return "".join(self.random.choices(letters, k=n))

    def jwt(self) -> str:
        def part(data: dict[str, object]) -> str:
            return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

        claims = {"sub": self.of(HEX, 12), "exp": 1800000000, "scope": "write"}
        return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{self.of(URL64, 43)}"

    def pem(self, kind: str, n: int) -> str:
        body = base64.b64encode(self.random.randbytes(n)).decode()
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.random.randbytes(16), version=4))


@cache
def shapes(seed: int = 0) -> tuple[Shape, ...]:
    """All shapes, with contents of this seed."""
    make = _Maker(seed)
    of = make.of
    found: list[Shape] = []

    def add(name: str, variable: str, value: str, *parts: str, neutral: bool = True) -> None:
        found.append(Shape(name, variable, value, parts or (value,), neutral))

    # Keys of model providers.
    for name, variable, value in (
        ("OpenAI, old", "OPENAI_API_KEY", f"sk-{of(ALNUM, 20)}T3BlbkFJ{of(ALNUM, 20)}"),
        ("OpenAI, project", "OPENAI_API_KEY_2", f"sk-proj-{of(URL64, 74)}T3BlbkFJ{of(URL64, 74)}"),
        ("Anthropic", "CLAUDE", f"sk-ant-api03-{of(URL64, 93)}AA"),
        ("Hugging Face", "HUB", f"hf_{of(LETTERS, 34)}"),
        ("Google AI", "GEMINI", f"AIza{of(URL64, 35)}"),
        ("Groq", "GROQ", f"gsk_{of(ALNUM, 52)}"),
        ("xAI", "GROK", f"xai-{of(ALNUM, 80)}"),
        ("Replicate", "REPLICATE", f"r8_{of(ALNUM, 37)}"),
        ("Perplexity", "PERPLEXITY", f"pplx-{of(ALNUM, 48)}"),
        ("OpenRouter", "OPENROUTER", f"sk-or-v1-{of(HEX, 64)}"),
        ("DeepSeek", "DEEPSEEK", f"sk-{of(HEX, 32)}"),
        ("Fireworks", "FIREWORKS", f"fw_{of(ALNUM, 24)}"),
        ("Mistral", "MISTRAL", of(ALNUM, 32)),
        ("Cohere", "COHERE", of(ALNUM, 40)),
        ("Azure OpenAI, new", "AZURE_OPENAI", of(ALNUM, 84)),
        ("Langfuse", "LANGFUSE", f"sk-lf-{make.uuid()}"),
        ("LangSmith", "LANGSMITH", f"lsv2_pt_{of(HEX, 32)}_{of(HEX, 10)}"),
    ):
        add(name, variable, value)
    add("Azure OpenAI, hex", "AZURE_OPENAI_API_KEY1", of(HEX, 32), neutral=False)
    add("Together", "TOGETHER_APIKEY", of(HEX, 64), neutral=False)
    add("Weights & Biases", "WANDB_API_KEY", of(HEX, 40), neutral=False)
    # Clouds and services.
    access = f"AKIA{of(UPPER32, 16)}"
    add("AWS id", "AWS_ACCESS_KEY_ID", access)
    add("AWS id, temporary", "ID_OF_THE_LAB", f"ASIA{of(UPPER32, 16)}")
    add("AWS secret", "AWS_SECRET_ACCESS_KEY", of(B64, 40))
    add("AWS session", "AWS_SESSION_TOKEN", f"IQoJb3JpZ2luX2Vj{of(B64, 300)}==")
    private = make.pem("PRIVATE KEY", 1216)
    account = {
        "type": "service_account",
        "project_id": "lab-evaluations",
        "private_key_id": of(HEX, 40),
        "private_key": private,
        "client_email": "ranker@lab-evaluations.iam.gserviceaccount.com",
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    add(
        "Google service account",
        "GOOGLE_CREDENTIALS",
        json.dumps(account),
        private,
        private.split("\n")[9],
        str(account["private_key_id"]),
    )
    add("Google service account, neutral", "GCP_JSON", json.dumps(account), private.split("\n")[5])
    storage = of(B64, 86) + "=="
    add(
        "Azure storage",
        "AZURE_STORAGE_CONNECTION_STRING",
        "DefaultEndpointsProtocol=https;AccountName=labevaluations;"
        f"AccountKey={storage};EndpointSuffix=core.windows.net",
        storage,
    )
    client = f"{of(ALNUM, 3)}8Q~{of(ALNUM + '.~_-', 34)}"
    add("Azure client secret", "AZURE_CLIENT_SECRET", client, neutral=False)
    for name, variable, value in (
        ("GitHub, classic", "GH_PAT", f"ghp_{of(ALNUM, 36)}"),
        ("GitHub, fine-grained", "GITHUB", f"github_pat_{of(ALNUM, 22)}_{of(ALNUM, 59)}"),
        ("GitHub, of a job", "GITHUB_TOKEN", f"ghs_{of(ALNUM, 36)}"),
        ("GitLab", "GITLAB", f"glpat-{of(ALNUM, 20)}"),
        ("Slack bot", "SLACK", f"xoxb-{of('123456789', 12)}-{of('123456789', 13)}-{of(ALNUM, 24)}"),
        ("Stripe", "STRIPE", f"sk_live_{of(ALNUM, 24)}"),
        ("SendGrid", "MAILER", f"SG.{of(ALNUM, 22)}.{of(ALNUM, 43)}"),
        ("npm", "NPM", f"npm_{of(ALNUM, 36)}"),
        ("PyPI", "PYPI", f"pypi-AgEIcHlwaS5vcmc{of(URL64, 150)}"),
        ("Databricks", "DATABRICKS", f"dapi{of(HEX, 32)}"),
        ("DigitalOcean", "OCEAN", f"dop_v1_{of(HEX, 64)}"),
        ("Telegram", "BOT", f"{of('123456789', 10)}:AA{of(ALNUM, 33)}"),
        ("Notion", "NOTION", f"secret_{of(ALNUM, 43)}"),
    ):
        add(name, variable, value)
    hook = of(ALNUM, 24)
    address = f"https://hooks.slack.com/services/T{of(UPPER32, 8)}/B{of(UPPER32, 10)}/{hook}"
    add("Slack webhook", "NOTIFY", address, hook)
    for name, form, hook in (
        ("Slack trigger", "hooks.slack.com/triggers/T0AB12345/1234567890123/{}", of(HEX, 32)),
        ("Discord webhook", "discord.com/api/webhooks/1234567890123456789/{}", of(URL64, 68)),
        (
            "Teams webhook",
            f"lab.webhook.office.com/webhookb2/{make.uuid()}@{make.uuid()}/IncomingWebhook/{{}}/"
            f"{make.uuid()}",
            of(HEX, 32),
        ),
        ("Mattermost webhook", "chat.example.org/hooks/{}", of(LOWER36, 26)),
        ("Make webhook", "hook.eu1.make.com/{}", of(LOWER36, 32)),
        ("IFTTT webhook", "maker.ifttt.com/trigger/done/with/key/{}", of(URL64, 43)),
        ("n8n webhook", "n8n.example.org/webhook/{}", make.uuid()),
        ("Lark webhook", "open.feishu.cn/open-apis/bot/v2/hook/{}", make.uuid()),
        ("WeCom webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}", make.uuid()),
        ("DingTalk webhook", "oapi.dingtalk.com/robot/send?access_token={}", of(HEX, 64)),
        ("Telegram, in an address", "api.telegram.org/bot1234567890:{}/send", of(URL64, 35)),
        ("Healthchecks", "hc-ping.com/{}", make.uuid()),
        ("Datadog intake", "http-intake.logs.datadoghq.com/v1/input/{}", of(HEX, 32)),
        ("Infura", "mainnet.infura.io/v3/{}", of(HEX, 32)),
    ):
        add(name, "NOTIFY", f"https://{form.format(hook)}", hook)
    # Its token is too short alone.
    add("Zapier webhook", "NOTIFY", f"https://hooks.zapier.com/catch/123/{of(HEX, 4)}9zz")
    bare = f"https://chat.example.org/in/{of(string.ascii_lowercase, 24)}"
    add("named a webhook", "SLACK_WEBHOOK_URL", bare, bare.rpartition("/")[2], neutral=False)
    token = make.jwt()
    add("JWT", "SESSION", token, token, token.rpartition(".")[2])
    add("JWT in a header", "EXTRA_HEADERS", f"Authorization: Bearer {token}", token)
    # Addresses and databases.
    word = f"{of(string.ascii_lowercase, 5)}-{of(ALNUM, 5)}%2F!"
    add("database", "DATABASE_URL", f"postgresql://ranker:{word}@db.example.org:5432/ranks", word)
    plain = of(string.ascii_lowercase, 9)
    add("basic auth", "PIP_INDEX_URL", f"https://ada:{plain}@pypi.example.org/simple", plain)
    pat = f"ghp_{of(ALNUM, 36)}"
    add("token in an address", "REPO", f"https://{pat}@github.com/lab/rankings.git", pat)
    user = of(HEX, 32)
    add("Sentry", "SENTRY_DSN", f"https://{user}@o12345.ingest.sentry.io/678901", user)
    proxy = f"Pr0xy.{of(ALNUM, 4)}"
    add("proxy", "HTTPS_PROXY", f"http://ada:{proxy}@proxy.example.org:8080", proxy)
    spoken = f"{of(string.ascii_lowercase, 6)} {of(string.ascii_lowercase, 7)}!"
    dsn = f"host=db.example.org user=ranker password='{spoken}' dbname=ranks"
    add("libpq", "PG_CONNECTION", dsn, spoken)
    sql = f"{of(ALNUM, 6)}#{of(ALNUM, 4)}"
    add("SQL Server", "CONNECTION", f"Server=tcp:db.example.org;User ID=r;Password={sql};", sql)
    signed = quote(of(B64, 43) + "=", safe="")
    sas = f"https://lab.blob.core.windows.net/logs?sv=2024-11-04&se=2027-01-01&sig={signed}"
    add("Azure SAS", "LOG_STORE", sas, signed)
    # Keys in files, lists, and structures.
    key = make.pem("OPENSSH PRIVATE KEY", 330)
    add("private key", "DEPLOY", key, key, key.split("\n")[5])
    add("private key on one line", "DEPLOY_1", key.replace("\n", "\\n"), key.split("\n")[4])
    keys = [f"sk-{of(ALNUM, 48)}" for _ in range(3)]
    add("list of keys", "OPENAI_KEYS", ",".join(keys), *keys)
    keys = [f"sk-{of(HEX, 32)}" for _ in range(2)]
    add("list of keys, spaced", "KEYS_OF_THE_LAB", "; ".join(keys), *keys)
    add("JSON list of keys", "POOL", json.dumps(keys), *keys)
    short = [f"{of(ALNUM, 4)}-{of(ALNUM, 5)}" for _ in range(2)]
    named = ",".join(f"team{number}:{one}" for number, one in enumerate(short))
    add("named keys", "API_KEYS", named, *short, neutral=False)
    pair = f"ada:{of(ALNUM, 12)}"
    encoded = base64.b64encode(pair.encode()).decode()
    add("basic auth, encoded", "AUTH_BASIC", f"Basic {encoded}", encoded, neutral=False)
    add("in JSON", "SETTINGS", json.dumps({"db": {"password": spoken}}), spoken)
    # Passwords, which look like nothing but are called so.
    for name, variable, value in (
        ("password", "DB_PASSWORD", f"{of(string.ascii_lowercase, 9)}"),
        ("password, short name", "PGPASS", f"{of(ALNUM, 6)}!{of(ALNUM, 3)}"),
        ("password with a number", "ADMIN_PASSWORD_1", f"correct-{of(string.ascii_lowercase, 6)}"),
        ("passphrase", "GPG_PASSPHRASE", f"correct horse {of(string.ascii_lowercase, 7)} staple"),
        ("camel case", "azureApiKey", of(HEX, 32)),
        ("cookie", "SESSION_COOKIE", f"sid={of(ALNUM, 26)}"),
        ("credentials of a lab", "LAB_CREDS", f"ada:{of(ALNUM, 9)}"),
        ("a word", "LLM_KEY", of(string.ascii_lowercase, 15)),
        ("eight letters", "LLM_TOKEN", of(string.ascii_letters, 8)),
        ("eight digits", "ADMIN_PWD", f"{of('3456789', 8)}"),
        ("capitals in hex", "LLM_APIKEY", of(HEX, 40).upper()),
        ("a dash and words", "MY_CREDENTIAL", f"{of(string.ascii_lowercase, 5)}-name"),
        ("with umlauts", "LAB_SECRET", f'ünïc\\öde "{of(ALNUM, 6)}" & more'),
    ):
        add(name, variable, value, neutral=False)
    return tuple(found)
