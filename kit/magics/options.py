"""A magic line, taken apart by the table of its magic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kit.errors import CellError
from kit.magics.specs import MagicSpec, Option
from kit.magics.words import Word, split_words
from kit.source.nearest import nearest

__all__ = ["ParsedLine", "parse_line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedLine:
    """A magic line, taken apart; every value knows its place for later messages.

    Parameters
    ----------
    options : mapping of str to tuple of Word
        Long name -> values, in the order given; an option without value has its own word.
    words : tuple of Word
        What belongs to no option.
    """

    options: Mapping[str, tuple[Word, ...]] = field(default_factory=dict[str, tuple[Word, ...]])
    words: tuple[Word, ...] = ()

    def has(self, name: str) -> bool:
        """Whether the option was given."""
        return name in self.options

    def text(self, name: str) -> str | None:
        """The option's value, None where it was not given."""
        values = self.options.get(name)
        return None if values is None else values[-1].text


def parse_line(spec: MagicSpec, line: str) -> ParsedLine:
    """Take the options of a magic line apart.

    Raises
    ------
    CellError
        An unknown option or value, a missing or doubled one, an open quote; with a column and
        the nearest spelling. Also for an option of a later version.
    """
    words = split_words(line)
    for word in words:
        if word.is_open:
            raise spec.error(
                line,
                "a quote is never closed",
                start=word.start,
                fix='put a " at the end of the value',
            )
    options: dict[str, tuple[Word, ...]] = {}
    rest: list[Word] = []
    waiting = iter(words)
    for word in waiting:
        if not _is_option(word):
            rest.append(word)
            continue
        option, value = _match_option(spec, line, word, waiting)
        _check_value(spec, line, option, value)
        if option.name in options and not option.repeatable:
            raise spec.error(
                line,
                f"--{option.name} is given twice",
                start=word.start,
                fix="leave one of them out",
            )
        options[option.name] = (*options.get(option.name, ()), value)
    _check_rest(spec, line, rest)
    return ParsedLine(options=options, words=tuple(rest))


def _is_option(word: Word) -> bool:
    return not word.quoted and word.text.startswith("-") and len(word.text) > 1


def _match_option(
    spec: MagicSpec, line: str, word: Word, waiting: Iterator[Word]
) -> tuple[Option, Word]:
    """The option that `word` spells, and its value; takes the next word where it needs one."""
    spelling, equals, attached = word.text.partition("=")
    option = spec.find(spelling)
    if option is None and spec.find(f"-{spelling}") is None:  # -lc, but not -language
        short = spec.find(spelling[:2])
        if short is not None and short.metavar is not None:
            option, spelling, equals, attached = short, spelling[:2], "=", word.text[2:]
    if option is None:
        raise _unknown_option(spec, line, word, spelling)
    if option.metavar is None:
        if equals:
            raise spec.error(
                line, f"{spelling} takes no value", start=word.start, fix=f"write {spelling} alone"
            )
        return option, word
    if equals:
        start = word.start + word.text.index(attached, len(spelling))
        return option, Word(text=attached, start=start, end=word.end, quoted=True)
    value = next(waiting, None)
    if value is None or (_is_option(value) and spec.find(value.text.partition("=")[0])):
        example = option.choices[0] if option.choices else option.metavar
        raise spec.error(
            line,
            f"{spelling} needs a value",
            start=word.start,
            fix=f"{spelling} {example}",
        )
    return option, value


def _check_value(spec: MagicSpec, line: str, option: Option, value: Word) -> None:
    if option.later is not None:
        raise spec.error(
            line,
            f"--{option.name} comes with a later version of kit",
            start=value.start,
            fix=option.later,
        )
    if option.choices and value.text not in option.choices:
        raise spec.error(
            line,
            f"--{option.name} cannot be {value.text!r}: it is {_either(option.choices)}",
            start=value.start,
            fix=f"--{option.name} {_nearest(value.text, option.choices) or option.choices[0]}",
        )


def _check_rest(spec: MagicSpec, line: str, rest: list[Word]) -> None:
    """Words that belong to no option: one where the magic takes one, otherwise none."""
    positional = spec.positional
    if positional is None or len(rest) > 1:
        if not rest:
            return
        extra = rest[0] if positional is None else rest[1]
        raise spec.error(
            line,
            f"unexpected {extra.text!r}",
            start=extra.start,
            fix=_fix_for_word(spec, extra.text),
        )
    if not rest:
        if positional.required:
            value = "|".join(positional.choices) or positional.metavar
            raise spec.error(
                line,
                f"{spec.prefix} needs {value}",
                start=len(line),
                fix=spec.example.splitlines()[-1],
            )
    elif positional.choices and rest[0].text not in positional.choices:
        word = rest[0]
        near = _nearest(word.text, positional.choices) or positional.choices[0]
        raise spec.error(
            line,
            f"{word.text!r} is not {_either(positional.choices)}",
            start=word.start,
            fix=f"{spec.prefix} {near}",
        )


def _fix_for_word(spec: MagicSpec, text: str) -> str:
    """The option that a bare word was probably meant for."""
    name, equals, value = text.partition("=")
    for option in spec.options:
        if text in option.choices:
            return f"--{option.name} {text}"
        if name == option.name:
            return f"--{name} {value}".rstrip() if equals else f"--{name}"
    return f"leave it out; {spec.prefix}? lists what it takes"


def _unknown_option(spec: MagicSpec, line: str, word: Word, spelling: str) -> CellError:
    known = [name for one in spec.options for name in one.spellings]
    near = _nearest(spelling, [name for name in known if name.startswith("--")] or known)
    if near is not None:
        fix = f"did you mean {near}?"
    elif spec.options:
        fix = f"{spec.prefix}? lists the options"
    else:
        fix = f"leave it out: {spec.prefix} has no options"
    return spec.error(line, f"there is no option {spelling}", start=word.start, fix=fix)


def _nearest(text: str, known: tuple[str, ...] | list[str]) -> str | None:
    """The known spelling that begins with `text`, or else looks like it."""
    if len(text.strip("-")) == 0:
        return None
    begins = next((one for one in known if one.startswith(text.lower())), None)
    bare = text.lstrip("-").lower()
    return (
        begins
        or nearest(f"--{bare}", known, at_least=0.5)
        or nearest(text.lower(), known, at_least=0.5)
    )


def _either(choices: tuple[str, ...]) -> str:
    return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)
