"""Errors of publishing, and the Hub's refusals; all messages say what to do next."""

from typing import Final

from tiebreak.candidates.hub import Fault, Kind
from tiebreak.errors import TiebreakError


class PublishError(TiebreakError, ValueError):
    """A ranking cannot be published; the message says why and what to do next."""


TOKENS: Final = "https://huggingface.co/settings/tokens"
AGAIN: Final = (
    "Run the same command again later: what has arrived is recognised, nothing is doubled."
)
LOG_IN: Final = (
    f"log in with `hf auth login` or set HF_TOKEN (a token with write access, {TOKENS})."
)
BAD_ADDRESS: Final = (
    "The address of the Hub or of a proxy cannot be read: check HF_ENDPOINT, HTTP_PROXY and "
    "HTTPS_PROXY; in a password write / as %2F, @ as %40 and : as %3A."
)

_SENTENCES: dict[Kind, str] = {
    "token": "The Hub does not know this token{said}: {log_in}",
    "gated": "{repo} is gated{said}: ask its owner for access at {url}, then publish again.",
    "forbidden": "The Hub does not let this token write to {repo}{said}: use a token with write "
    "access ({tokens}), or publish under an OWNER that is you or your organisation; --pr proposes "
    "the run to another owner's dataset.",
    "missing": "There is no dataset {repo} that this token may see{said}: check OWNER/NAME; "
    "without --pr, a dataset of your own is created.",
    "revision": "{repo} has no branch main{said}: check it at {url}.",
    "file": "A file of {repo} disappeared while it was read{said}. {again}",
    "changed": "Others kept changing {repo} at the same time{said}{tried}; nothing of theirs is "
    "lost and nothing of yours is half there. {again}",
    "busy": "The Hub asks for fewer requests{said}{tried}.{wait} {again}",
    "down": "The Hub has trouble{said}{tried}: see https://status.huggingface.co.{wait} {again}",
    "refused": "The Hub refuses this publication to {repo}{said}: fix what it names, then publish "
    "again.",
    "offline": "HF_HUB_OFFLINE is set: unset it to publish, or use --dry-run to write the folder "
    "only.",
    "proxy": BAD_ADDRESS + " It begins with http:// or https://.",
    "unreachable": "The Hub at {endpoint} cannot be reached{said}: check the network, a proxy and "
    "HF_ENDPOINT. {again}",
    "broken": "The connection to the Hub broke{said}{tried}. {again}",
    "disk": "A file cannot be read or written on this machine{said}: free some space or check the "
    "permissions, then publish again.",
}


def sentence(fault: Fault, repo_id: str, endpoint: str, tries: int) -> str:
    """Explain a fault of the Hub, and what to do."""
    parts = [str(fault.status)] if fault.status else []
    parts += [fault.message] if fault.message else []
    wait = fault.retry_after or 0
    duration = f"{wait:.0f} s" if wait < 120 else f"{wait / 60:.0f} min"
    return _SENTENCES[fault.kind].format(
        repo=repo_id,
        url=f"{endpoint}/datasets/{repo_id}",
        endpoint=endpoint,
        said=f" ({': '.join(parts)})" if parts else "",
        wait=f" It asks to wait {duration}." if wait else "",
        tried=f", also at the last of {tries} tries" if tries > 1 else "",
        tokens=TOKENS,
        log_in=LOG_IN,
        again=AGAIN,
    )
