"""Runs cases in a process of its own, since what it guards against kills processes: JSON lines out.

``python -m tests.fuzz.child kit|tiled|bare LANGUAGE FAMILY SEED FIRST LAST FOLDER``

"tiled" is "kit" with copies in tiles, in threads and to pooled buffers, however small they are.
Each case is announced before it runs, so that the parent can name the one that a death belongs to.
Bare functions die often: each of their cases runs in a fork.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from kit.copying import blocked, pool, threads
from tests.fuzz.check import Fuzzer
from tests.fuzz.comparison import Expected, Failure, changed_read_only, compare

BareOutcome = Literal["right", "wrong", "aborts", "read-only written", "refused", "accepted"]


def say(**items: object) -> None:
    print(json.dumps(items), flush=True)


def run_kit(fuzzer: Fuzzer, number: int) -> None:
    """One case through kit."""
    try:
        said, kinds = fuzzer.check(number)
    except Failure as failure:
        kind, why = failure.args
        case = fuzzer.build(number)
        say(number=number, said=kind, kinds=case.kinds, label=case.label, why=why)
        case.shop.close()
    except Exception:
        why = traceback.format_exc(limit=-5)
        say(number=number, said="another error", kinds=[], label="?", why=why)
    else:
        say(number=number, said=said, kinds=kinds)


def run_bare(fuzzer: Fuzzer, number: int) -> None:
    """One case through the bare compiled function, in a fork."""
    case = fuzzer.build(number)
    if any(slot.keyword_only for slot in case.subject.slots):
        return  # Fortran renames them
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(20)
        os.write(writer, _bare_outcome(fuzzer, number).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    say(number=number, said=said or "aborts", kinds=case.kinds)
    case.shop.close()


def _bare_outcome(fuzzer: Fuzzer, number: int) -> BareOutcome:
    # What the runtime says of its death is not wanted.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 2)
    expected: Expected = fuzzer.expect(number)
    case = fuzzer.build(number)
    function = fuzzer.kernels[case.subject.name].compiled
    try:
        result = function(*case.values)
    except Exception:
        return "refused"
    if changed_read_only(case, expected):
        return "read-only written"
    if not expected.owed.works:
        return "accepted"
    try:
        compare(case, expected, result)
    except Failure:
        return "wrong"
    return "right"


def copy_as_if_large() -> None:
    """Lower the sizes from which copies are made in tiles, in threads and to pooled buffers."""
    blocked.LEAST_BYTES = pool.LEAST_BYTES = 1
    threads.BYTES_PER_THREAD = 256


def main(arguments: list[str]) -> None:
    """Run a range of cases."""
    what, language, family, seed, first, last, folder = arguments
    warnings.simplefilter("error")
    if what == "tiled":
        copy_as_if_large()
    fuzzer = Fuzzer(cast(Any, language), cast(Any, family), int(seed), Path(folder))
    say(ready=True, guard=next(iter(fuzzer.kernels.values())).guard)
    for number in range(int(first), int(last)):
        say(start=number)
        with np.errstate(all="ignore"):
            (run_bare if what == "bare" else run_kit)(fuzzer, number)
    say(finished=True)


if __name__ == "__main__":
    main(sys.argv[1:])
