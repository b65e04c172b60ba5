"""The Python API: the answers of the command line, as values.

Every function takes the command as one text or as tokens, and the same context by keyword:
``sglang``, ``gpu``, ``gpus``, ``model_config``, ``family``, ``env`` and ``stage``. ``to_dict()`` of
an answer is the JSON of the verb. Secrets of the command are hidden in every answer.
"""

from kvsolve.answers.check import check
from kvsolve.answers.conflict import conflict
from kvsolve.answers.enumerate import count, cover, iter_configs, sample
from kvsolve.answers.explain import explain, why
from kvsolve.answers.matrix import matrix
from kvsolve.answers.options import options
from kvsolve.answers.repair import repair

__all__ = [
    "check",
    "conflict",
    "count",
    "cover",
    "explain",
    "iter_configs",
    "matrix",
    "options",
    "repair",
    "sample",
    "why",
]
