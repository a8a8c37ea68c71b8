"""What ``%kit_cache`` says about the store."""

from __future__ import annotations

from kit.cache import Entry, Store
from kit.errors import clean_text
from kit.show.build_text import cache_table, few_names
from kit.show.sizes import bytes_text
from kit.show.stability import is_stable_output

__all__ = ["cache_report"]


def cache_report(store: Store, action: str) -> str:
    """Do what is asked, and what to print about it.

    Parameters
    ----------
    store : Store
        The store; "clear" empties it.
    action : {"list", "size", "clear", "verify"}
        What is asked.
    """
    if action == "size":
        where = "" if is_stable_output() else f" in {clean_text(str(store.root))}"
        return f"{_count(len(store.list()))}, {bytes_text(store.size_bytes())}{where}"
    if action == "clear":
        size = store.size_bytes()
        return f"deleted {_count(store.clear())}, {bytes_text(size)}"
    if action == "verify":
        problems = store.verify()
        if not problems:
            return f"{_count(len(store.list()))}, each as it was stored"
        lines = [clean_text(f"{one.name}: {one.text}") for one in problems]
        return "\n".join([*lines, "%kit_cache clear removes what is stored; it is built again"])
    return cache_table([(one.key, _label(one), one.artifact_bytes) for one in store.list()])


def _count(number: int) -> str:
    return f"{number} artifact" + ("" if number == 1 else "s")


def _label(entry: Entry) -> str:
    """What was compiled: "slope, hillshade (fortran)", "saxpy (cuda)", "saxpy (emulator)"."""
    kernels = entry.meta.get("kernels")
    language = entry.meta.get("target") or entry.meta.get("language")
    if not isinstance(kernels, list | tuple):
        return "?"
    return few_names([str(one) for one in kernels]) + (f" ({language})" if language else "")
