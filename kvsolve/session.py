"""From a command to an answer: the one path that the CLI, the Python API and batch share.

A :class:`Session` keeps packs and prepared contexts, so that many commands cost little more than
their evaluation.
"""

from __future__ import annotations

import json
from dataclasses import field, replace
from itertools import compress, islice
from operator import is_not
from typing import TYPE_CHECKING, Any

from kvsolve.contexts import Contexts
from kvsolve.errors import KvsolveError
from kvsolve.inputs.argv import ParsedCommand, parse_argv
from kvsolve.inputs.command import split_command
from kvsolve.inputs.models import DEVICE_FLAGS, MODEL_FLAGS
from kvsolve.inputs.problems import ParseProblem
from kvsolve.inputs.serving_machine import NOTHING, taken_for_granted
from kvsolve.model.context import Config
from kvsolve.model.finding import CheckResult, Finding, Kind, Verdict
from kvsolve.model.noun import dataclass
from kvsolve.packs.pack import Pack, load_pack, newest
from kvsolve.solve.check import check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.alike import Alike
    from kvsolve.contexts import Spread
    from kvsolve.solve.check import Prepared

__all__ = ["Question", "Request", "Session"]

_MOST_WORDS = 4000
"""Words of a command; reading them takes time with the square of their number."""
_UNNAMED = "MODEL"
"""Stands for the model of a command that names none."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks about.

    Attributes:
        command: Tokens of the command, with or without the program in front.
        sglang: Release as typed; None: the image's tag, else the newest pack.
        sglang_by: Who says the release: ``option`` or ``settings``.
        gpu: GPU profile; None: unknown.
        gpus: GPUs a node.
        model_config: Path of a config.json or of its directory.
        family: Model profile.
        env: Environment variables that win over those in the command.
        stage: Last stage to judge; None: the last one modelled.
        ident: Carried into the answer.
        names_model: The command has to name its model; otherwise one left out is no problem.
        image: Container image that the command runs in, where it does not say so itself.
        unknown: Why a token is not known, by its position in the command.
        loose: Positions of unknown tokens that may stand for several words or for none.
        unknown_env: Why an environment variable is not known, by name.
        remarks: Why further parts of the command are not known.
        here: This is the machine that serves: nothing that the command names is taken for granted.
    """

    command: Sequence[str]
    sglang: str | None = None
    gpu: str | None = None
    gpus: int = 8
    model_config: str | None = None
    family: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    stage: str | None = None
    ident: Any = None
    names_model: bool = True
    image: str | None = None
    unknown: Mapping[int, str] = field(default_factory=dict)
    loose: frozenset[int] = frozenset()
    unknown_env: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    here: bool = False
    sglang_by: str = "option"


@dataclass(frozen=True, slots=True)
class Question:
    """A request made concrete: what the solver works on.

    Attributes:
        request: What was asked.
        pack: The release's knowledge.
        sglang_from: ``option``, ``settings``, ``image`` or ``newest``.
        argv: Tokens after the program.
        parsed: The parser's reading of them.
        config: Values of every field.
        problems: What upstream's parser would refuse, as findings.
        spread: Its contexts: one for each consistent profile, exactly one where GPU and model are
            known.
        doubts: Parts of the command that may be anything, so that no verdict holds for sure.
        origin: For each of ``argv`` its position in the request's command; -1 where it has none.
    """

    request: Request
    pack: Pack
    sglang_from: str
    argv: tuple[str, ...]
    parsed: ParsedCommand
    config: Config
    problems: tuple[Finding, ...]
    spread: Spread
    doubts: tuple[str, ...] = ()
    origin: tuple[int, ...] = ()

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """One prepared context for each consistent profile."""
        return self.spread.prepared

    @property
    def held(self) -> frozenset[str]:
        """Flags of the model and of the machine that the command leaves alone.

        No edit may invent them: another device is another machine.
        """
        return (MODEL_FLAGS | DEVICE_FLAGS) - set(self.config.given)

    @property
    def context(self) -> Prepared:
        """The one context.

        Raises:
            KvsolveError: GPU or model is not known, so there are several.
        """
        if len(self.prepared) != 1:
            contexts = [prepared.context for prepared in self.prepared]
            missing = []
            if len({context.gpu for context in contexts}) != 1:
                missing.append("--gpu")
            if len({context.model for context in contexts}) != 1:
                missing.append("--model-config or --family")
            raise KvsolveError(
                f"this needs one GPU and one model: give {' and '.join(missing)}"
                " (`kvsolve profiles` lists what is known)"
            )
        return self.prepared[0]


class Session:
    """Answers requests, keeping what they share."""

    def __init__(self) -> None:
        self._contexts = Contexts()

    def ask(self, request: Request) -> Question:
        """Read a request: release, command, context.

        Raises:
            KvsolveError: Something in it cannot be used.
        """
        if len(request.command) > _MOST_WORDS:
            size = len(request.command)
            raise KvsolveError(
                f"the command has {size} words; more than {_MOST_WORDS} are not read"
            )
        launch = split_command(request.command)
        pack, origin = _release(request, launch.image or request.image)
        env = {**launch.env, **request.env}
        argv, places, problems = tuple(launch.argv), launch.origin, launch.problems
        if "--config" in argv:
            from kvsolve.inputs.config_file import merge_config_file

            merged = merge_config_file(argv, pack.flags)
            argv, problems = merged.argv, (*problems, *merged.problems)
            places = tuple(places[i] if i >= 0 else -1 for i in merged.origin)
        unknown = [at for at, place in enumerate(places) if place in request.unknown]
        parsed = _without_refused(parse_argv(argv, pack.flags, env, unknown), pack)
        config = _config(pack, parsed)
        doubts = request.remarks
        if parsed.open or parsed.strays or request.unknown_env:
            from kvsolve.inputs.doubts import doubted, doubts_of, roomy

            reasons = {at: request.unknown[places[at]] for at in unknown}
            config = doubted(config, parsed.open, reasons)
            loose = {at for at in unknown if places[at] in request.loose}
            strays = (*parsed.strays, *roomy(parsed.open, places, loose))
            doubts = (*doubts, *doubts_of(strays, reasons, request.unknown_env, pack.flags))
        problems = (*problems, *parsed.problems)
        return Question(
            request,
            pack,
            origin,
            argv,
            parsed,
            config,
            tuple(_remarks(pack, parsed, _told(request, problems))),
            self._contexts.of(request, pack, config, env),
            doubts,
            places,
        )

    def check(self, request: Request) -> CheckResult:
        """Say everything about a request's command.

        Raises:
            KvsolveError: Something in the request cannot be used.
        """
        return self.judge(self.ask(request))

    def judge(self, question: Question, alike: Alike | None = None) -> CheckResult:
        """Say everything about a question that was already read.

        Args:
            question: What to judge.
            alike: Answers of the run, where those for commands that are alike may serve.
        """
        key = None if alike is None else alike.key(question)
        answer = None if alike is None or key is None else alike.find(key)
        if answer is None:
            answer = _judged(question)
            if alike is not None:
                alike.keep(key, answer)
        if question.doubts:
            answer = _in_doubt(answer, question.doubts)
        request = question.request
        taken = NOTHING if request.here else taken_for_granted(question.config)
        told = tuple(taken.sentences())
        return replace(answer, argv=question.argv, ident=request.ident, taken_for_granted=told)


def _judged(question: Question) -> CheckResult:
    """The answer for what is certain in a question, whatever may be doubtful beside."""
    traces = question.spread.together.traces(question.config)
    told: dict[Any, Finding] = {}
    results = [
        check(
            prepared,
            question.config,
            argv=question.argv,
            problems=question.problems,
            sglang_from=question.sglang_from,
            trace=trace,
            told=told,
        )
        for prepared, trace in zip(question.prepared, traces, strict=True)
    ]
    if question.parsed.open:
        from kvsolve.inputs.doubts import without_doubted

        results = [without_doubted(result) for result in results]
    if len(results) == 1:
        return results[0]
    from kvsolve.agreement import agreed

    return agreed(results, question.request)


def _override_problems(parsed: ParsedCommand) -> Iterator[ParseProblem]:
    """Overrides of the model's configuration that SGLang breaks on; it lets empty ones pass."""
    given = parsed.given.get("json_model_override_args")
    if given is None:
        return
    detail = ""
    try:
        value = json.loads(str(parsed.values["json_model_override_args"]))
        if isinstance(value, dict) or not value:
            return
    except ValueError as error:
        detail = str(error)
    yield ParseProblem(
        "bad-overrides",
        given.spelling,
        given.place,
        detail,
        name=given.flag.name,
        values=(str(parsed.values["json_model_override_args"]),),
        crash=True,
    )


def _without_refused(parsed: ParsedCommand, pack: Pack) -> ParsedCommand:
    """The command without the values that break SGLang once its parser has taken them.

    As with what the parser refuses, what is said of the rest holds without them.
    """
    problems = (*parsed.problems, *_override_problems(parsed))
    places = {p.index for p in problems if p.kind in ("bad-level", "bad-overrides")}
    bad = [dest for dest, given in parsed.given.items() if given.place in places]
    if not bad:
        return parsed
    defaults = {dest: pack.flags.fields.get(dest) for dest in bad}
    kept = {dest: given for dest, given in parsed.given.items() if dest not in defaults}
    return replace(parsed, values={**parsed.values, **defaults}, given=kept, problems=problems)


def _release(request: Request, image: str | None) -> tuple[Pack, str]:
    """The pack to use and how it was chosen."""
    if request.sglang:
        return load_pack(request.sglang), request.sglang_by
    if image:
        from kvsolve.inputs.command import release_of_image

        named = release_of_image(image)
        if named:
            return load_pack(named), "image"
    return load_pack(newest()), "newest"


def _config(pack: Pack, parsed: ParsedCommand) -> Config:
    """The server arguments' fields as the parsed command fills them."""
    values, defaults = parsed.values, pack.flags.defaults
    fields = dict(pack.flags.initial)
    # The parser starts from the table's own defaults, in their order, so nearly all are the same.
    differ = compress(values, map(is_not, values.values(), defaults.values()))
    more = islice(values, len(defaults), None)
    fields.update((name, values[name]) for name in (*differ, *more) if name in fields)
    given = {dest: g.spelling for dest, g in parsed.given.items() if dest in fields}
    if fields.get("model_path") is None:
        # The parser's finding says that it is missing; the rest is judged for some model.
        fields["model_path"] = _UNNAMED
    return Config(fields, given)


def _told(request: Request, problems: Sequence[ParseProblem]) -> list[ParseProblem]:
    """The problems to tell, those that both the launcher and the parser have only once."""
    if not request.names_model:
        problems = [p for p in problems if p.kind != "missing-flag"]
    return list({(p.kind, p.spelling, p.index): p for p in reversed(problems)}.values())[::-1]


def _remarks(
    pack: Pack, parsed: ParsedCommand, problems: Sequence[ParseProblem]
) -> Iterator[Finding]:
    """What there is to say of a command before anything is resolved."""
    if problems:
        from kvsolve.inputs.parse_findings import parse_findings

        yield from parse_findings(problems, pack)
    if "config" in parsed.given:
        from kvsolve.inputs.parse_findings import ignored_config_file

        yield ignored_config_file(parsed.given["config"].spelling)


def _in_doubt(result: CheckResult, doubts: tuple[str, ...]) -> CheckResult:
    """An answer for a command of which parts may be anything: only what no part undoes is sure."""
    refused = any(f.is_error and f.kind is Kind.PARSE for f in result.findings)
    verdict = Verdict.INVALID if refused else Verdict.UNKNOWN
    return replace(result, verdict=verdict, unknown=(*result.unknown, *doubts))
