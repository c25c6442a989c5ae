"""The formats of structural tags as trees: each says which texts, and which special tokens, it allows.

    tag                 begin, content, end: free text in the content does not contain the end
    triggered_tags      free text; behind a trigger only the tags whose begin has it

The meaning is that of xgrammar's documentation. Special tokens are no text: only formats about tokens read them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import nearest, quoted
from guidedviz.machines import limits
from guidedviz.machines.free_text import free_text
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import check_grammar
from guidedviz.machines.graph import grouped
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.json_schema import schema_grammar
from guidedviz.machines.schema.settings import SchemaSettings
from guidedviz.machines.schema.text_sets import overlap
from guidedviz.machines.schema.xml_styles import STYLES
from guidedviz.machines.special import NamesOf, Special, other_names, spell
from guidedviz.machines.structural.fields import MISSING, FormatPart, Token, check_text, check_type, reading, tag_error
from guidedviz.machines.structural.joined import JoinedRules
from guidedviz.machines.syntax import ANY_CHARACTER, EMPTY, NOTHING, Repeat, Tree, concat, either, literal
from guidedviz.machines.syntax import optional as optional_tree
from guidedviz.machines.work import working_on


@dataclass(frozen=True)
class Ends:
    """How the nearest tag around a format may end."""

    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    path: str = ""  # of an end that is empty


Read = Callable[["FormatReader", FormatPart, Ends], Tree]
Words = dict[str | Special, Tree]


class FormatReader:
    """Reads formats into one set of rules; equal schemas, regexes and grammars are read once."""

    def __init__(self, names_of: NamesOf) -> None:
        self.names_of = names_of
        self.rules = JoinedRules()
        self.known: dict[str, Tree] = {}
        self.depth = 0

    def read(self, part: FormatPart, ends: Ends) -> Tree:
        """The texts of a format."""
        self.depth += 1
        if self.depth > limits.NESTED_FORMATS:
            seen = f"more than {limits.NESTED_FORMATS} nested formats"
            raise tag_error(part.path, seen, "fewer, or a grammar, whose rules may call each other")
        tree = READERS[part.name](self, part, ends)
        self.depth -= 1
        return tree

    def once(self, part: FormatPart, read: Callable[[], Tree]) -> Tree:
        """What equal formats have in common."""
        return self.shared(part.dump(), part.path, read)

    def shared(self, key: str, path: str, read: Callable[[], Tree]) -> Tree:
        """What is read once for all parts with this key."""
        if key not in self.known:
            with reading(path), working_on(path):
                self.known[key] = read()
        return self.known[key]

    # --- special tokens ---------------------------------------------------------------------------------------------

    def names(self, token: Token, path: str) -> list[str]:
        """The texts of a special token, which is given by its text or its id."""
        check_type(token, str | int, path, "the text or the id of a special token")
        if isinstance(token, str):
            return [Special(check_text(token, path, empty=False)).name]
        with reading(path):
            return list(self.names_of(token, token))

    def names_in(self, part: FormatPart, key: str, default: Any = MISSING) -> list[str]:
        """The texts of the special tokens of a list."""
        values = part.value(key, list, "a list of texts and ids of special tokens", default)
        names = list[str]()
        for place, token in enumerate(values):
            names += self.names(token, part.at(key, place))
        return names

    def token(self, part: FormatPart, ends: Ends) -> Tree:
        return spell_any(self.marker(part))

    def marker(self, part: FormatPart) -> list[Special]:
        """What a token format names: ids of one name are several special tokens."""
        names = self.names(part.value("token", object, "a special token"), part.at("token"))
        return list(map(Special, names))

    def begins(self, part: FormatPart) -> list[str | Special]:
        """The begin of a tag: a text or a special token."""
        begin = part.value("begin", str | Mapping, "a text or a token")
        if isinstance(begin, str):
            return [part.text("begin")]
        return [*self.marker(FormatPart.of_format(begin, part.at("begin"), "token"))]

    # --- texts ------------------------------------------------------------------------------------------------------

    def const_string(self, part: FormatPart, ends: Ends) -> Tree:
        return literal(part.text("value"))

    def regex(self, part: FormatPart, ends: Ends) -> Tree:
        pattern = part.text("pattern", empty=False)
        return self.once(part, lambda: self.rules.add("regex", parse_regex(pattern)))

    def grammar(self, part: FormatPart, ends: Ends) -> Tree:
        text = part.text("grammar", empty=False)
        return self.once(part, lambda: self.grammar_rules(text))

    def grammar_rules(self, text: str) -> Tree:
        parsed = parse_grammar(text, names_of=self.names_of)
        check_grammar(parsed)
        return self.rules.of_grammar(parsed, "grammar")

    def json_schema(self, part: FormatPart, ends: Ends) -> Tree:
        schema = part.value("json_schema", Mapping | bool | str, "a schema: an object, true or false")
        style = part.value("style", str, "a style", "json")
        if part.name == "qwen_xml_parameter":
            style = "qwen_xml"
        styles = ("json", *STYLES)
        if style not in styles:
            expected = ", ".join(styles)
            raise tag_error(part.at("style"), quoted(style), expected, nearest(style, styles))
        blanks = part.count("max_whitespace_cnt", None, least=1)
        any_order = part.flag("any_order")
        excludes = tuple(part.texts("excludes", ()))
        settings = SchemaSettings(whitespace="inside", most_blanks=blanks, any_order=any_order, excludes=excludes)
        return self.once(part, lambda: self.schema_rules(schema, settings, style))

    def schema_rules(self, schema: Any, settings: SchemaSettings, style: str) -> Tree:
        made, notes = schema_grammar(schema, settings, style)
        self.rules.note(*notes)
        return self.rules.of_grammar(made, "arguments" if style != "json" else "json")

    def any_text(self, part: FormatPart, ends: Ends) -> Tree:
        self.check_end(ends, part)
        self.note_tokens(part)
        most: int | None = 0
        if part.count("max_tokens", None) != 0:
            most = part.count("max_chars", None)
        tree = free_text({}, [*part.texts("excludes", ()), *ends.texts])
        if most is None:
            return tree
        return self.rules.add("text", overlap([tree], high=most, may_count=True))

    def note_tokens(self, part: FormatPart) -> None:
        """Note a limit that a machine cannot enforce, because it reads characters."""
        if part.count("max_tokens", None):
            self.rules.note(f"{part.at('max_tokens')}: not enforced, a machine counts no tokens of text")

    def check_end(self, ends: Ends, part: FormatPart) -> None:
        """Raise an error for free text without excluded words in a tag without an end."""
        if ends.path and not (part.fields.get("excludes") or part.fields.get("exclude_tokens")):
            raise tag_error(ends.path, "an empty text", "an end that is not empty: the content may be any text")

    # --- combinations -----------------------------------------------------------------------------------------------

    def sequence(self, part: FormatPart, ends: Ends) -> Tree:
        return concat(*(self.read(each, ends) for each in part.formats("elements")))

    def choice(self, part: FormatPart, ends: Ends) -> Tree:
        return either(*(self.read(each, ends) for each in part.formats("elements")))

    def optional(self, part: FormatPart, ends: Ends) -> Tree:
        return optional_tree(self.read(part.format("content"), ends))

    def star(self, part: FormatPart, ends: Ends) -> Tree:
        low = 1 if part.name == "plus" else 0
        return Repeat(self.read(part.format("content"), ends), low, None)

    def repeat(self, part: FormatPart, ends: Ends) -> Tree:
        low = part.count("min")
        high = part.count("max", least=-1)
        if -1 < high < low:
            raise tag_error(part.at("max"), str(high), f"at least min, which is {low}, or -1 for no upper bound")
        content = self.read(part.format("content"), ends)
        return Repeat(content, low, None if high < 0 else high)

    # --- tags -------------------------------------------------------------------------------------------------------

    def tag(self, part: FormatPart, ends: Ends) -> Tree:
        return concat(spell_any(self.begins(part)), self.behind_begin(part, alone=True))

    def behind_begin(self, part: FormatPart, alone: bool = False) -> Tree:
        """The content of a tag, and its end; free text in a tag that stands alone needs an end."""
        end = part.value("end", str | list | Mapping, "a text, a list of texts, or a token")
        if isinstance(end, Mapping):
            names = self.marker(FormatPart.of_format(end, part.at("end"), "token"))
            ends = Ends(names=tuple(map(str, names)))
            return concat(self.read(part.format("content"), ends), spell_any(names))
        if isinstance(end, list):
            values = enumerate(part.items("end"))
            texts = [check_text(text, part.at("end", place)) for place, text in values]
        else:
            texts = [part.text("end")]
        words = tuple(filter(None, texts))
        needs_end = alone and not words
        ends = Ends(texts=words, path=part.at("end") if needs_end else "")
        content = self.read(part.format("content"), ends)
        return concat(content, spell_any(texts))

    def inside(self, part: FormatPart, name: str) -> Tree:
        """What follows the begin of a tag, as a rule: tags that differ only in their begin share it."""
        key = part.dump("content", "end")
        return self.shared(key, part.path, lambda: self.rules.add(name, self.behind_begin(part)))

    def tags_with_separator(self, part: FormatPart, ends: Ends) -> Tree:
        trees = []
        for tag in part.formats("tags", "tag"):
            begins = self.begins(tag)
            inside = self.inside(tag, str(begins[0]))
            trees.append(concat(spell_any(begins), inside))
        one = self.rules.add("tags", either(*trees))
        separator = literal(part.text("separator"))
        more = Repeat(concat(separator, one), 0, None)
        tree = one if part.flag("stop_after_first") else concat(one, more)
        return tree if part.flag("at_least_one") else optional_tree(tree)

    # --- free text in which words or tokens are watched for ---------------------------------------------------------

    def triggered_tags(self, part: FormatPart, ends: Ends) -> Tree:
        self.check_end(ends, part)
        return self.triggered(part, ends, part.texts("triggers"))

    def token_triggered_tags(self, part: FormatPart, ends: Ends) -> Tree:
        self.check_end(ends, part)
        return self.triggered(part, ends, list(map(Special, self.names_in(part, "trigger_tokens"))))

    def triggered(self, part: FormatPart, ends: Ends, triggers: Sequence[str | Special]) -> Tree:
        """Free text with tags, each behind a trigger; a trigger without a tag is excluded."""
        found: dict[str | Special, list[Tree]] = {trigger: [] for trigger in triggers}
        first = []  # the tags with their whole begins
        for tag in part.formats("tags", "tag"):
            for begin in self.begins(tag):
                trigger = find_trigger(begin, found, tag)
                inside = self.inside(tag, str(begin))
                rest = literal(str(begin).removeprefix(str(trigger)))
                found[trigger].append(concat(rest, inside))
                first.append(concat(spell(begin), inside))
        words = self.words(found)
        at_least_one = part.flag("at_least_one")
        if part.flag("stop_after_first"):
            if at_least_one:
                return either(*first)
            return self.watching(part, words, ends, loop=False)
        rest = self.watching(part, words, ends)
        return concat(either(*first), rest) if at_least_one else rest

    def dispatch(self, part: FormatPart, ends: Ends) -> Tree:
        self.check_end(ends, part)
        found: list[tuple[str | Special, Tree]] = []
        for place, (opening, content) in enumerate(part.rules()):
            tree = self.read(content, ends)
            path = part.at("rules", place, 0)
            if part.name == "dispatch":
                found.append((check_text(opening, path, empty=False), tree))
            else:
                found += [(Special(name), tree) for name in self.names(opening, path)]
        words = self.words(grouped(found))
        return self.watching(part, words, Ends(), part.flag("loop", default=True))

    def words(self, found: Mapping[Any, list[Tree]]) -> Words:
        """A rule for what follows each word."""
        words = dict[Any, Tree]()
        for word, trees in found.items():
            words[word] = NOTHING
            if trees:
                words[word] = self.rules.add(str(word), either(*trees))
        return words

    def watching(self, part: FormatPart, words: Words, ends: Ends, loop: bool = True) -> Tree:
        """Free text: of characters, or of characters and special tokens."""
        if part.name in ("triggered_tags", "dispatch"):
            return free_text(words, [*part.texts("excludes", ()), *ends.texts], loop=loop)
        return free_text(words, others=self.other_tokens(part, ends, *map(str, words)), loop=loop)

    def other_tokens(self, part: FormatPart, ends: Ends, *more: str) -> Tree:
        """Any special token but those that are excluded, or end the tag around."""
        return other_names([*self.names_in(part, "exclude_tokens", ()), *ends.names, *more])

    def exclude_token(self, part: FormatPart, ends: Ends) -> Tree:
        self.rules.note(f"{part.path}: one character stands for one token of text")
        return either(ANY_CHARACTER, self.other_tokens(part, ends))

    def any_tokens(self, part: FormatPart, ends: Ends) -> Tree:
        self.check_end(ends, part)
        self.note_tokens(part)
        if part.count("max_tokens", None) == 0:
            return EMPTY
        return self.watching(part, {}, ends)


def spell_any(words: Iterable[str | Special]) -> Tree:
    """One of these texts or special tokens."""
    return either(*map(spell, words))


def find_trigger(begin: str | Special, triggers: Iterable[str | Special], tag: FormatPart) -> str | Special:
    """The trigger with which the begin of a tag begins; a token is its own trigger."""
    known = list(triggers)
    matching = [trigger for trigger in known if begin == trigger]
    if isinstance(begin, str):
        matching = [trigger for trigger in known if isinstance(trigger, str) and begin.startswith(trigger)]
    if len(matching) != 1:
        seen = f"{quoted(str(begin))}, for which {len(matching) or 'no'} triggers fit"
        expected = "one trigger with which it begins" if tag.fields["begin"] == begin else "one of the trigger tokens"
        raise tag_error(tag.at("begin"), seen, expected, nearest(str(begin), map(str, known), 0.3))
    return matching[0]


READERS: dict[str, Read] = {
    "const_string": FormatReader.const_string,
    "regex": FormatReader.regex,
    "grammar": FormatReader.grammar,
    "json_schema": FormatReader.json_schema,
    "qwen_xml_parameter": FormatReader.json_schema,
    "any_text": FormatReader.any_text,
    "sequence": FormatReader.sequence,
    "or": FormatReader.choice,
    "optional": FormatReader.optional,
    "star": FormatReader.star,
    "plus": FormatReader.star,
    "repeat": FormatReader.repeat,
    "tag": FormatReader.tag,
    "triggered_tags": FormatReader.triggered_tags,
    "tags_with_separator": FormatReader.tags_with_separator,
    "dispatch": FormatReader.dispatch,
    "token": FormatReader.token,
    "exclude_token": FormatReader.exclude_token,
    "any_tokens": FormatReader.any_tokens,
    "token_triggered_tags": FormatReader.token_triggered_tags,
    "token_dispatch": FormatReader.dispatch,
}
