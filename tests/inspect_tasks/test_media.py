"""What belongs to a question and is no text: refused, marked or shown, from a log to a judge."""

import random
import re
from collections.abc import Mapping, Sequence
from contextvars import Context
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pytest
from inspect_ai import Task, eval, eval_retry, score, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentAudio,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo

from tests.candidates.builders import write_inspect_log
from tests.candidates.releases.make_inspect import IMAGES
from tests.cases import cases
from tests.inspect_tasks.runs import ballots_of, judge_in_process, metrics_of
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.stars import star_report
from tiebreak.candidates import CONTEST_KEY, Candidate, CandidatePool, Item, ItemKey, Medium
from tiebreak.inspect_tasks import canaries
from tiebreak.inspect_tasks.arguments import Media
from tiebreak.inspect_tasks.contests import contest_samples, restore_contest, task_text
from tiebreak.inspect_tasks.judging import judging_task
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import Resampling
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.scorers.protocols import find_protocol
from tiebreak.scorers.ranking import ranking
from tiebreak.study.estimate import sheet
from tiebreak.study.estimate.cost import estimate_canaries, estimate_cost

RED, BLUE = IMAGES["red"], IMAGES["blue"]
SOUND = "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IA=="
SHAPE = "Which shape is this?"
UNSEEN = "(an image was given; it is not shown)"
SEEN = "(an image was given; it is shown above)"
MODELS = ("mockllm/m0", "mockllm/m1", "mockllm/m2")
# item: the mark under `mark`, the marks under `show`, what is shown, and how that is kept
ITEMS: dict[str, tuple[str, Sequence[str], tuple[str, ...], str]] = {
    "told": ("", [], (), ""),
    "red": (UNSEEN, [SEEN], (RED,), "show"),
    "blue": (UNSEEN, [SEEN], (BLUE,), "show"),
    "mixed": (
        "(2 images, a recording and a file (data.csv) were given; they are not shown)",
        [
            "(2 images were given; they are shown above)",
            "(a recording and a file (data.csv) were given; they are not shown)",
        ],
        (BLUE, RED),
        "mark",
    ),
}
# What a protocol's questions are called in schemas; settings with which it asks all of them.
ASKED: dict[str, tuple[set[str], dict[str, Any]]] = {
    "original": (set(), {}),
    "pointwise": ({"grades"}, {}),
    "fixed_rubric": ({"rubric", "grades"}, {}),
    "listwise": ({"places"}, {}),
    "flat_bracket": ({"tiers", "votes"}, {}),
    "seal": ({"tiers", "votes", "critique", "checklist_item"}, {}),
    "swiss": ({"tiers", "votes", "checklist_item"}, {}),
    "round_robin": ({"votes"}, {"canaries": 1}),
    "sorted": ({"votes"}, {}),
    "peer_review": ({"places"}, {}),
    "stars": ({"stars"}, {}),
    "full_pairwise": ({"votes"}, {}),
}


class Heard(NamedTuple):
    """What a judge was asked: the schema's name, and the messages."""

    kind: str
    messages: Sequence[ChatMessage]

    @property
    def system(self) -> str:
        return self.messages[0].text

    @property
    def user(self) -> str:
        return self.messages[1].text

    @property
    def images(self) -> tuple[str, ...]:
        content = self.messages[1].content
        assert isinstance(content, str) or isinstance(content[-1], ContentText)
        parts = [] if isinstance(content, str) else content
        return tuple(part.image for part in parts if isinstance(part, ContentImage))

    @property
    def item(self) -> str:
        [name] = set(re.findall(r"item=(\w+)", self.user))
        return str(name)


class Witness:
    """A planted judge that keeps what it hears; of close answers it is not sure."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self._planted = import_module("planted_judge").PlantedJudge("x+scale=100")

    def model(self, name: str = "mockllm/judge") -> Model:
        return get_model(name, custom_outputs=self._reply, memoize=False)

    def _reply(
        self,
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        assert config.response_schema is not None
        self.heard.append(Heard(config.response_schema.name, list(messages)))
        text = self._planted.reply(messages, config, random.Random(len(self.heard)))
        output = ModelOutput.from_content("judge", text)
        output.usage = ModelUsage()
        return output


def shapes() -> list[Sample]:
    def shown(id: str, *parts: Any, **more: Any) -> Sample:
        content = [ContentText(text=f"{SHAPE} item={id}"), *parts]
        return Sample(id=id, input=[ChatMessageUser(content=content)], target="square", **more)

    red, blue = ContentImage(image=RED), ContentImage(image=BLUE)
    question: list[ChatMessage] = [
        ChatMessageSystem(content="Say it in one word."),
        ChatMessageUser(content="A shape of 4 equal sides? item=told"),
        ChatMessageAssistant(content="Are its corners right?"),
        ChatMessageUser(content="They are."),
    ]
    return [
        Sample(id="told", input=question, target="square"),
        shown("red", red),
        shown("blue", blue),
        shown("mixed", blue, ContentAudio(audio=SOUND, format="wav"), red, files={"data.csv": "1"}),
    ]


@solver
def answering(number: int) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        text = f"A square, item={state.sample_id}, for {number}. quality={number + 1} author=0"
        state.output = ModelOutput.from_content(str(state.model), text)
        return state

    return solve


def write_shapes(folder: Path) -> Path:
    """Logs of three models that Inspect itself writes."""
    for number, model in enumerate(MODELS):

        @task(name="shapes")
        def exam(number: int = number) -> Task:
            return Task(
                dataset=MemoryDataset(shapes()), solver=answering(number), scorer=includes()
            )

        [log] = eval(exam(), model=model, log_dir=str(folder), log_realtime=False)
        assert log.status == "success"
    return folder


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shapes(tmp_path_factory.mktemp("shapes") / "logs")


def judged(protocol: str, logs: Path, out: Path, **arguments: Any) -> tuple[EvalLog, list[Heard]]:
    """The log of a judging task, and what its judges were asked."""
    witness = Witness()
    roles: Mapping[str, Any] = {"judge": witness.model()}
    if protocol == "peer_review":
        roles = {"peers": [witness.model(name) for name in MODELS]}
    options = {"model_roles": roles}
    [log] = judge_in_process(protocol, logs, out, eval_args=options, **arguments)
    return read_eval_log(log.location, resolve_attachments=True), witness.heard


@pytest.mark.parametrize("protocol", ["round_robin", "peer_review", "stars"])
def test_items_with_media_are_refused(protocol: str, logs: Path, tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        judged(protocol, logs, tmp_path)
    assert str(caught.value) == (
        "shapes: 3 of 4 items, such as blue, came with 4 images, a recording and a file "
        "(data.csv): add -T media=mark to judge by the text, with a mark of what is not shown, or "
        "-T media=show to show images that the logs hold to a judge that can see."
    )


def test_every_protocol_is_in_the_table() -> None:
    assert ASKED.keys() == PROTOCOLS.keys()


@pytest.mark.parametrize("media", ["mark", "show"])
@pytest.mark.parametrize("protocol", ASKED)
def test_every_question_of_every_protocol(
    protocol: str, media: Literal["mark", "show"], logs: Path, tmp_path: Path
) -> None:
    kinds, arguments = ASKED[protocol]
    log, heard = judged(protocol, logs, tmp_path, media=media, **arguments)
    assert log.status == "success"
    assert {one.kind for one in heard} == kinds
    for one in heard:
        if one.kind == "rubric":
            # About the whole benchmark: it is shown nothing, whatever its judge can see.
            assert one.images == ()
            assert one.user.count(UNSEEN) == 2
            assert one.user.count(ITEMS["mixed"][0]) == 1
            continue
        mark, marks, images, _ = ITEMS[one.item]
        lines = re.findall(r"^\(.* (?:was|were) given; .*\)$", one.user, re.MULTILINE)
        assert lines == ([mark] if media == "mark" and mark else marks if media == "show" else [])
        assert one.images == (images if media == "show" else ())
    if kinds:
        assert {one.item for one in heard if one.kind != "rubric"} == ITEMS.keys()
    for name, (mark, _, _, kept) in ITEMS.items():
        ballots = ballots_of(log)[name]
        # Where nobody is asked nothing is shown.
        assert ballots.media == (kept if media == "show" and kinds else "mark" if mark else "")
        assert ballots.content_hash


def test_who_asks_nobody_refuses_nothing(logs: Path, tmp_path: Path) -> None:
    judged("original", logs, tmp_path)
    [board] = leaderboards([tmp_path], how=Resampling(draws=50))
    assert not any("judged without" in note for note in map(str, board.notes))


def test_a_judge_reads_the_roles_of_a_conversation(logs: Path, tmp_path: Path) -> None:
    _, heard = judged("listwise", logs, tmp_path, media="mark")
    [told] = [one for one in heard if one.item == "told"]
    fence = r"<<< (\w{8})\n"
    task_read = (
        "System: Say it in one word.\n\nUser: A shape of 4 equal sides? item=told\n\n"
        "Assistant: Are its corners right?\n\nUser: They are."
    )
    assert re.search(rf"Task:\n{fence}{re.escape(task_read)}\n>>> \1", told.user)
    assert "one word" not in told.system


def notes_of(folder: Path) -> list[str]:
    [board] = leaderboards([folder], how=Resampling(draws=50))
    return [note for note in map(str, board.notes) if "images" in note]


@pytest.mark.parametrize(
    ("media", "notes"),
    [
        ("mark", ["3 of 4 items were judged without images or files of the question"]),
        ("show", ["1 of 4 items was judged without images or files of the question"]),
    ],
)
def test_a_board_says_what_was_not_shown(
    media: str, notes: list[str], logs: Path, tmp_path: Path
) -> None:
    judged("listwise", logs, tmp_path / "list", media=media)
    assert notes_of(tmp_path / "list") == notes
    judged("stars", logs, tmp_path / "stars", media=media)
    boards = star_report([tmp_path / "stars"], how=Resampling(draws=50)).boards
    assert [[n for n in map(str, board.notes) if "images" in n] for board in boards] == [notes]


def test_scores_are_computed_again_and_a_failed_run_goes_on(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = type(import_module("planted_judge").PlantedJudge("x"))
    heard: list[Heard] = []
    cannot_see = True

    def reply(judge: Any, input: list[ChatMessage], *more: Any) -> Any:
        heard.append(Heard("", input))
        if cannot_see and heard[-1].images == (RED,):
            raise RuntimeError("no images, please")
        return planted_reply(judge, input, *more)

    planted_reply = planted.reply
    monkeypatch.setattr(planted, "reply", reply)
    [failed] = judge_in_process("listwise", logs, tmp_path / "out", media="show")
    assert failed.status == "error"
    [sample] = [sample for sample in failed.samples or [] if sample.error]
    assert sample.id == "red"
    assert "no images, please" in str(sample.error)
    n, cannot_see = len(heard), False
    [whole] = eval_retry(failed, log_dir=str(tmp_path / "again"), log_realtime=False)
    assert whole.status == "success"
    assert [(one.item, one.images) for one in heard[n:]] == [("red", (RED,))]
    again = score(read_eval_log(whole.location), ranking(), action="overwrite")
    assert metrics_of(again) == metrics_of(whole)


@pytest.mark.parametrize("media", ["mark", "show"])
def test_an_image_stands_once_in_the_log(media: str, logs: Path, tmp_path: Path) -> None:
    log, _ = judged("full_pairwise", logs, tmp_path, media=media)
    stored = read_eval_log(log.location)
    for sample in stored.samples or []:
        assert "data:image" not in str(sample.metadata[CONTEST_KEY])
        assert "data:image" not in str(sample.store)
        held = [text for text in sample.attachments.values() if "data:image" in text]
        images = ITEMS[str(sample.id)][2] if media == "show" else ()
        assert sorted(text for text in held if text.startswith("data:")) == sorted(set(images))
        size = len(sample.model_dump_json().replace(RED[-40:], "HERE").split("HERE")) - 1
        assert size == images.count(RED)


def same_words(folder: Path) -> Path:
    """Logs of two models that gave the same answers to one text with two images."""
    for model in "ab":
        answer = {"question": "", "answer": f"{model}. quality=1"}
        rows = [{"id": colour, **answer} for colour in IMAGES]
        path = write_inspect_log(folder / f"{model}.eval", model, rows, task="shapes")
        log = read_eval_log(str(path))
        for sample in log.samples or []:
            shown = ContentImage(image=IMAGES[str(sample.id)])
            text = ContentText(text=f"{SHAPE} item=one")
            sample.input = [ChatMessageUser(content=[text, shown])]
        write_eval_log(log, str(path))
    return folder


@pytest.mark.parametrize(
    ("media", "asked"), [("mark", [()] * 2), ("show", [(BLUE,), (BLUE,), (RED,), (RED,)])]
)
def test_items_that_differ_by_their_images_share_replies_where_these_are_not_shown(
    media: str, asked: Sequence[tuple[str, ...]], tmp_path: Path
) -> None:
    logs, witness = same_words(tmp_path / "logs"), Witness()
    roles = {"judge": witness.model()}
    # One after the other, so that the second may find what the first was told.
    options = {"model_roles": roles, "max_samples": 1}
    [log] = judge_in_process("pointwise", logs, tmp_path / "out", eval_args=options, media=media)
    assert log.status == "success"
    assert sorted(one.images for one in witness.heard) == sorted(asked)


def item(*media: Medium) -> CandidatePool:
    key = ItemKey("shapes", "q")
    return CandidatePool(
        items=(Item(key, "abc", SHAPE, "square", media=media, content_hash="f00"),),
        candidates={key: {m: Candidate(key, m, f"A square {m}") for m in "ab"}},
    )


def image(source: str) -> Medium:
    return Medium("image", "", source)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "shape.png"
    path.write_bytes(b"png")
    (tmp_path / "shape.txt").write_text("secret")
    return path


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (RED, True),
        ("https://example.org/shape", True),
        ("http://example.org/shape.png", True),
        ("{folder}/shape.png", True),
        ("file://{folder}/shape.png", True),
        ("{folder}/shape.txt", False),  # a log may name any file: what is no image stays here
        ("{folder}/missing.png", False),
        ("shape.png", False),  # in the folder of another run
        ("", False),  # lm-eval
        ("s3://bucket/shape.png", False),
        ("/9j/4AAQSkZJRg" * 1000, False),
        (f"/{'x' * 5000}.png", False),
        ("/\ud800\0.png", False),
    ],
)
def test_which_images_can_be_shown(source: str, shown: bool, picture: Path) -> None:
    source = source.format(folder=picture.parent)
    pool = item(image(source))
    [sample] = contest_samples(pool, media="show")
    contest = restore_contest(sample.metadata or {}, sample.input)
    assert contest.images == ((source,) if shown else ())
    assert contest.task == f"{SHAPE}\n\n{SEEN if shown else UNSEEN}"
    assert contest.unseen == (f"{SHAPE}\n\n{UNSEEN}" if shown else "")
    assert (contest.media, contest.content_hash) == ("show" if shown else "mark", "f00")


def test_inspect_reads_an_image_from_its_file(picture: Path, tmp_path: Path) -> None:
    task = Task(
        dataset=MemoryDataset(contest_samples(item(image(f"file://{picture}")), media="show")),
        solver=seeing(),
    )
    [log] = eval(task, model="mockllm/x", log_dir=str(tmp_path / "out"))
    [sample] = log.samples or []
    assert sample.output.completion == "data:image/png;base64,cG5n"


@solver
def seeing() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        [state.output.completion] = restore_contest(state.metadata, state.input).images
        return state

    return solve


@pytest.mark.parametrize(("media", "mark"), cases(__file__, "marks"))
def test_the_words_of_a_mark(media: list[list[Any]], mark: str) -> None:
    [only] = item(*(Medium(kind, "", name) for kind, name in media)).items
    assert task_text(only) == f"{SHAPE}\n\n{mark}"


def test_only_items_that_are_judged_are_refused() -> None:
    pool = item(image(RED))
    with pytest.raises(PrerequisiteError, match="No item is saturated"):
        contest_samples(pool, saturated_only=True, media="refuse")


def test_a_run_of_plain_text_is_the_same_run_whatever_media_says(tmp_path: Path) -> None:
    for model in "ab":
        rows = [{"id": "q", "question": "What?", "answer": model}]
        write_inspect_log(tmp_path / f"{model}.eval", model, rows)
    judging = partial(judging_task, find_protocol("listwise"), {}, candidates=str(tmp_path))
    # An eval of this process leaves its model behind, and outside of any none is asked for.
    runs = [Context().run(judging, media=media).metadata for media in get_args(Media)]
    assert runs[0] == runs[1] == runs[2]


def test_an_estimate_prices_marks_and_says_that_images_are_not_counted(logs: Path) -> None:
    estimate = estimate_cost(logs, "listwise", judge="openai/gpt-5", prices=["1,10"])
    assert estimate.n_media == 3
    assert (
        "Images or files belong to 3 of 4 items: the figures are those of -T media=mark; the "
        "images of -T media=show are not in the tokens"
    ) in sheet.data_of(estimate)["notes"]
    assert (
        estimate_canaries(logs, 4, "openai/gpt-5").n_media == 6
    )  # three items, each in two versions


def test_canaries_are_asked_about_without_images(logs: Path, tmp_path: Path) -> None:
    log = canaries.ask([str(logs)], "planted/x", str(tmp_path), display="none", canaries=1)
    assert log.status == "success"
    assert log.eval.task_args["media"] == "mark"
