"""Upstream's plumbing: functions whose meaning is known by name rather than read.

Each handler may answer ``NotImplemented`` to have the function read after all.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from kvsolve.model.expression import Expr, Operand, if_, negate, node, raw
from kvsolve.upstream.reader import (
    attributes,
    builtins,
    calls,
    classes,
    iteration,
    model_config,
    names,
    overrides,
    record,
    statements,
)
from kvsolve.upstream.reader.run import Call, Run
from kvsolve.upstream.reader.values import (
    RECORD,
    BoundMethod,
    ClassValue,
    FunctionValue,
    Platform,
    Record,
    Unreadable,
    Value,
    View,
)

__all__ = ["SPECIAL"]

Args = list[Value]
Kwargs = dict[str, Value]
Handler = Callable[[Run, FunctionValue, Args, Kwargs], Value]


def _live_view(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return View()


def _snapshot(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return View(run.snapshot())


def _record_of(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return RECORD


def _declare(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    for name, value in kwargs.items():
        if isinstance(value, calls.Perhaps):
            record.declare(run, name, value.value, value.there)
        else:
            record.declare(run, name, value)
    return None


def _declare_late(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    """Up to 0.5.18 a late decision is written into the fields, later it is declared."""
    if "_apply_fields" not in ast.unparse(function.node):
        return _declare(run, function, args, kwargs)
    for name, value in kwargs.items():
        if isinstance(value, calls.Perhaps):
            raise Unreadable("a late decision that may be absent")
        record.write_raw(run, name, value)
    return None


def _run_pass(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    declarations = calls.call(run, args[1], [View(run.snapshot())], {})
    record.declare_all(run, declarations)
    return None


def _run_hook(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return calls.call(run, args[0], [args[1]], {})


def _materialize(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    record.materialize(run)
    return None


def _model_config(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return model_config.of_record(run)


def _get_model_config(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    if isinstance(function.bound, Record):
        return model_config.of_record(run)
    return NotImplemented


def _config_from_args(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    if function.owner is None or function.owner.name != "ModelConfig":
        return NotImplemented
    return model_config.construct(run, args, kwargs)


def _platform(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return Platform(methods=False)


def _result(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    value = attributes.read(run, View(), args[1])
    if args[1] not in run.fallbacks:
        return value
    operand = run.operand(value)
    return if_(node("is", operand, None), run.fallbacks[args[1]], operand)


def _field_names(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return frozenset(run.fields)


def _is_record(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return isinstance(args[0], Record)


def _config(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    if "model" in run.building:
        _mistral_file(run, args, kwargs)
        return raw("fact", "config")
    if "draft" in run.building:
        return raw("fact", "draft.config")
    return NotImplemented


def _mistral_file(run: Run, args: Args, kwargs: Kwargs) -> None:
    """The Mistral parser wants its own file beside the weights; nothing else of it is read."""
    wanted, path = kwargs.get("model_config_parser"), args[0] if args else kwargs.get("model")
    module = run.modules.get("sglang.srt.utils.hf_transformers.mistral_utils")
    owner = module.definitions.get("MistralConfigParser") if module else None
    if module is None or not isinstance(owner, ast.ClassDef) or not isinstance(wanted, Expr):
        return
    method = classes.method(run, ClassValue(module, owner), "get_hf_file_to_dict")
    if method is None:
        return
    there = raw("helper", "path_isfile", node("add", run.operand(path), "/params.json"))
    raising = [n for n in ast.walk(method.node) if isinstance(n, ast.Raise)]
    with run.under(node("eq", wanted, "mistral")), run.under(negate(there)):
        run.calls.append(Call(method, raising[0].lineno if raising else method.node.lineno))
        statements.raise_(run, "FileNotFoundError", (), exact=False)
        run.calls.pop()


def _bool_variable(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    default = args[1] if len(args) > 1 else kwargs.get("default", "false")
    text = attributes.environment(run, args[0], default)
    return node("in", node("method", text, "lower"), ("true", "1"))


def _direct_writes(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    """A resolver that may write fields itself; a platform plug-in's writes nothing in the tree."""
    resolver = args[2]
    if isinstance(resolver, BoundMethod) and isinstance(resolver.owner, Platform):
        return None
    return calls.call(run, resolver, [RECORD], {})


def _nothing(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    return None


def _unpublished(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    raise Unreadable("the published configuration")


def _declared_quantization(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    """What the checkpoint declares, from config.json and its side files."""
    return raw(
        "fact",
        "draft.declared_quantization" if "draft" in run.building else "model.declared_quantization",
    )


def _candidate_steps(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    """The draft lengths that adaptive speculation may choose: of a file, or the release's own."""
    path = run.operand(args[0] if args else kwargs.get("cfg_path"))
    module = function.module.name
    calls.call(run, names.global_name(run, module, "_load_adaptive_config"), [path], {})
    entries = iteration.table_of(run, names.global_name(run, module, "DEFAULT_ADAPTIVE_CONFIG"))
    own: set[Operand] = set()
    for key, (_, entry) in entries.entries.items():
        if str(key).isdigit():
            steps = attributes.item(run, entry, "candidate_steps")
            own.update(run.operand(step) for _, step in iteration.items(run, steps))
    named = raw("helper", "adaptive_candidate_steps", path)
    return if_(node("is", path, None), tuple(sorted(own)), named)


def _algorithms(run: Run, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
    """Classes that upstream collects by importing every module of a package."""
    glob = getattr(run.tree, "glob", None)
    if function.module.name != "sglang.srt.dllm.algorithm" or glob is None:
        return NotImplemented
    entries: dict[str, tuple[Operand, Value]] = {}
    for file in glob("sglang/srt/dllm/algorithm/*.py"):
        dotted = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = run.modules.get(dotted)
        if module is not None and "Algorithm" in module.definitions:
            value = names.global_name(run, dotted, "Algorithm")
            if isinstance(value, ClassValue):
                entries[value.name] = (True, value)
    return builtins.table(run, entries)


SPECIAL: dict[str, Handler] = {
    "resolving_view": _live_view,
    "resolved_view": _snapshot,
    "record_of": _record_of,
    "declare_resolution": _declare,
    "declare_late_resolution": _declare_late,
    "run_post_process_pass": _run_pass,
    "run_hook": _run_hook,
    "materialize_declarations": _materialize,
    "model_config_of": _model_config,
    "get_model_config": _get_model_config,
    "from_server_args": _config_from_args,
    "get_platform": _platform,
    "resolution_result": _result,
    "field_names": _field_names,
    "is_record": _is_record,
    "get_config": _config,
    "get_bool_env_var": _bool_variable,
    "collect_model_override_declarations": overrides.apply_all,
    "validate_declarations": _nothing,
    "record_foreign_defaults": _direct_writes,
    "declare_direct_writes": _direct_writes,
    "record_fields": lambda run, function, args, kwargs: run.new_list([]),
    "_maybe_pull_model_tokenizer_from_remote": _nothing,
    "_maybe_pull_draft_model_config": _nothing,
    "_parse_quant_hf_config": _declared_quantization,
    "_find_quant_modelslim_config": _nothing,
    "load_pointer_head": lambda run, function, args, kwargs: run.config_fact(
        "model", "pointer_head"
    ),
    "import_algorithms": _algorithms,
    "resolve_candidate_steps_from_config": _candidate_steps,
    "get_context": _unpublished,
}
