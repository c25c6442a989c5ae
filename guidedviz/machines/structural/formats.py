"""The formats of structural tags as trees: each says which texts, and which special tokens, it allows.

    tag                 begin, content, end: free text in the content does not contain the end
    triggered_tags      free text; behind a trigger only the tags whose begin has it

The meaning is that of xgrammar's documentation. Special tokens are no text: only formats about tokens read them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import nearest, quoted
from guidedviz.machines import limits
from guidedviz.machines.free_text import free_text
from guidedviz.machines.grammars.gbnf import NamesOf, parse_grammar
from guidedviz.machines.grammars.grammar import check_grammar
from guidedviz.machines.graph import grouped
from guidedviz.machines.regular.regex import check_regex, parse_regex
from guidedviz.machines.schema.json_schema import schema_grammar
from guidedviz.machines.schema.settings import SchemaSettings
from guidedviz.machines.schema.text_sets import overlap
from guidedviz.machines.schema.xml_styles import STYLES
from guidedviz.machines.special import Special, other_names, spell
from guidedviz.machines.structural.fields import MISSING, Part, Token, check_text, check_type, reading, tag_error
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


Read = Callable[["FormatReader", Part, Ends], Tree]
Words = dict[str | Special, Tree]


class FormatReader:
    """Reads formats into one set of rules; equal schemas, regexes and grammars are read once."""

    def __init__(self, names_of: NamesOf) -> None:
        self.names_of = names_of
        self.rules = JoinedRules()
        self.known: dict[str, Tree] = {}
        self.depth = 0

    def read(self, part: Part, ends: Ends) -> Tree:
        """The texts of a format."""
        self.depth += 1
        if self.depth > limits.NESTED_FORMATS:
            seen = f"more than {limits.NESTED_FORMATS} nested formats"
            raise tag_error(part.path, seen, "fewer, or a grammar, whose rules may call each other")
        tree = READERS[part.name](self, part, ends)
        self.depth -= 1
        return tree

    def once(self, part: Part, read: Callable[[], Tree]) -> Tree:
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
        check_type(token, int, path, "the text or the id of a special token")
        with reading(path):
            return list(self.names_of(token, token))

    def names_in(self, part: Part, key: str, default: Any = MISSING) -> list[str]:
        """The texts of the special tokens of a list."""
        values = part.value(key, list, "a list of texts and ids of special tokens", default)
        return [name for place, token in enumerate(values) for name in self.names(token, part.at(key, place))]

    def one_of(self, names: Iterable[str]) -> Tree:
        """One of these special tokens."""
        return either(*(spell(Special(name)) for name in names))

    # --- texts ------------------------------------------------------------------------------------------------------

    def const_string(self, part: Part, ends: Ends) -> Tree:
        return literal(part.text("value"))

    def regex(self, part: Part, ends: Ends) -> Tree:
        pattern = part.text("pattern", empty=False)
        return self.once(part, lambda: self.regex_rule(pattern))

    def regex_rule(self, pattern: str) -> Tree:
        check_regex(pattern)
        return self.rules.add("regex", parse_regex(pattern))

    def grammar(self, part: Part, ends: Ends) -> Tree:
        text = part.text("grammar", empty=False)
        return self.once(part, lambda: self.grammar_rules(text))

    def grammar_rules(self, text: str) -> Tree:
        parsed = parse_grammar(text, names_of=self.names_of)
        check_grammar(parsed)
        return self.rules.of_grammar(parsed, "grammar")

    def json_schema(self, part: Part, ends: Ends) -> Tree:
        schema = part.value("json_schema", Mapping | bool | str, "a schema: an object, true or false")
        style = part.value("style", str, "a style", "json")
        if part.name == "qwen_xml_parameter":
            style = "qwen_xml"
        styles = ("json", *STYLES)
        if style not in styles:
            raise tag_error(part.at("style"), quoted(style), ", ".join(styles), nearest(style, styles))
        settings = SchemaSettings(
            whitespace="inside",
            most_blanks=part.count("max_whitespace_cnt", None, least=1),
            any_order=part.flag("any_order"),
            excludes=tuple(part.texts("excludes", ())),
        )
        return self.once(part, lambda: self.schema_rules(schema, settings, style))

    def schema_rules(self, schema: Any, settings: SchemaSettings, style: str) -> Tree:
        made, notes = schema_grammar(schema, settings, style)
        self.rules.note(*notes)
        return self.rules.of_grammar(made, "arguments" if style != "json" else "json")

    def any_text(self, part: Part, ends: Ends) -> Tree:
        self.check_end(ends, part)
        self.note_tokens(part)
        most = 0 if part.count("max_tokens", None) == 0 else part.count("max_chars", None)
        tree = free_text({}, [*part.texts("excludes", ()), *ends.texts])
        if most is None:
            return tree
        return self.rules.add("text", overlap([tree], high=most, may_count=True))

    def note_tokens(self, part: Part) -> None:
        """Note a limit that a machine cannot enforce, because it reads characters."""
        if part.count("max_tokens", None):
            self.rules.note(f"{part.at('max_tokens')}: not enforced, a machine counts no tokens of text")

    def check_end(self, ends: Ends, part: Part) -> None:
        """Raise an error for free text without excluded words in a tag without an end."""
        if ends.path and not (part.fields.get("excludes") or part.fields.get("exclude_tokens")):
            raise tag_error(ends.path, "an empty text", "an end that is not empty: the content may be any text")

    # --- combinations -----------------------------------------------------------------------------------------------

    def sequence(self, part: Part, ends: Ends) -> Tree:
        return concat(*(self.read(each, ends) for each in part.formats("elements")))

    def choice(self, part: Part, ends: Ends) -> Tree:
        return either(*(self.read(each, ends) for each in part.formats("elements")))

    def optional(self, part: Part, ends: Ends) -> Tree:
        return optional_tree(self.read(part.format("content"), ends))

    def star(self, part: Part, ends: Ends) -> Tree:
        return Repeat(self.read(part.format("content"), ends), 0, None)

    def plus(self, part: Part, ends: Ends) -> Tree:
        return Repeat(self.read(part.format("content"), ends), 1, None)

    def repeat(self, part: Part, ends: Ends) -> Tree:
        low = part.count("min")
        high = part.count("max", least=-1)
        if -1 < high < low:
            raise tag_error(part.at("max"), str(high), f"at least min, which is {low}, or -1 for no upper bound")
        content = self.read(part.format("content"), ends)
        return Repeat(content, low, None if high < 0 else high)

    # --- tags -------------------------------------------------------------------------------------------------------

    def tag(self, part: Part, ends: Ends) -> Tree:
        return concat(self.begin(part), self.behind_begin(part, alone=True))

    def begin(self, part: Part) -> Tree:
        """The begin of a tag: a text or a special token."""
        if isinstance(part.value("begin", str | Mapping, "a text or a token"), Mapping):
            return self.one_of(self.names_of_token(part, "begin"))
        return literal(part.text("begin"))

    def names_of_token(self, part: Part, key: str) -> list[str]:
        inner = Part.of_format(part.fields[key], part.at(key), "token")
        return self.names(inner.value("token", object, "a special token"), inner.at("token"))

    def behind_begin(self, part: Part, alone: bool = False) -> Tree:
        """The content of a tag, and its end; free text in a tag that stands alone needs an end."""
        end = part.value("end", str | list | Mapping, "a text, a list of texts, or a token")
        if isinstance(end, Mapping):
            names = self.names_of_token(part, "end")
            return concat(self.read(part.format("content"), Ends(names=tuple(names))), self.one_of(names))
        if isinstance(end, list):
            texts = [check_text(text, part.at("end", place)) for place, text in enumerate(part.items("end"))]
        else:
            texts = [part.text("end")]
        words = tuple(filter(None, texts))
        ends = Ends(texts=words, path=part.at("end") if alone and not words else "")
        return concat(self.read(part.format("content"), ends), either(*map(literal, texts)))

    def inside(self, part: Part, name: str) -> Tree:
        """What follows the begin of a tag, as a rule: tags that differ only in their begin share it."""
        key = part.dump("content", "end")
        return self.shared(key, part.path, lambda: self.rules.add(name, self.behind_begin(part)))

    def triggered_tags(self, part: Part, ends: Ends) -> Tree:
        self.check_end(ends, part)
        triggers = part.texts("triggers")
        tags: dict[str, list[tuple[str, Tree]]] = {trigger: [] for trigger in part.items("triggers") if triggers}
        for tag in part.formats("tags", "tag"):
            begin = check_text(tag.value("begin", str, "a text, which begins with a trigger"), tag.at("begin"))
            matching = [trigger for trigger in tags if begin.startswith(trigger)]
            if len(matching) != 1:
                seen = f"{quoted(begin)}, which begins with {len(matching) or 'no'} triggers"
                raise tag_error(tag.at("begin"), seen, "one of them at the beginning", nearest(begin, tags, 0.3))
            tags[matching[0]].append((begin, self.inside(tag, begin)))
        words: Words = {}
        for trigger, found in tags.items():
            options = [concat(literal(begin.removeprefix(trigger)), inside) for begin, inside in found]
            words[trigger] = self.rules.add(trigger, either(*options)) if options else NOTHING
        first = either(*(concat(literal(begin), inside) for found in tags.values() for begin, inside in found))
        excludes = [*part.texts("excludes", ()), *ends.texts]
        return self.with_tags(part, first, lambda loop: free_text(words, excludes, loop=loop))

    def with_tags(self, part: Part, first: Tree, free: Callable[[bool], Tree]) -> Tree:
        """Free text with tags; if one must come, it comes first."""
        at_least_one = part.flag("at_least_one")
        if part.flag("stop_after_first"):
            return first if at_least_one else free(False)
        return concat(first, free(True)) if at_least_one else free(True)

    def tags_with_separator(self, part: Part, ends: Ends) -> Tree:
        tags = part.formats("tags", "tag")
        trees = [concat(self.begin(tag), self.inside(tag, str(tag.fields["begin"]))) for tag in tags]
        one = self.rules.add("tags", either(*trees))
        more = Repeat(concat(literal(part.text("separator")), one), 0, None)
        tree = one if part.flag("stop_after_first") else concat(one, more)
        return tree if part.flag("at_least_one") else optional_tree(tree)

    def dispatch(self, part: Part, ends: Ends) -> Tree:
        self.check_end(ends, part)
        found = []
        for place, (word, content) in enumerate(part.rules()):
            found.append((check_text(word, part.at("rules", place, 0), empty=False), self.read(content, ends)))
        words: Words = {word: self.rules.add(word, either(*trees)) for word, trees in grouped(found).items()}
        return free_text(words, part.texts("excludes", ()), loop=part.flag("loop", default=True))

    # --- formats about tokens ---------------------------------------------------------------------------------------

    def token(self, part: Part, ends: Ends) -> Tree:
        return self.one_of(self.names(part.value("token", object, "a special token"), part.at("token")))

    def exclude_token(self, part: Part, ends: Ends) -> Tree:
        self.rules.note(f"{part.path}: one character stands for one token of text")
        return either(ANY_CHARACTER, self.other_tokens(part, ends))

    def other_tokens(self, part: Part, ends: Ends, *more: str) -> Tree:
        """Any special token but those that are excluded, or end the tag around."""
        return other_names([*self.names_in(part, "exclude_tokens", ()), *ends.names, *more])

    def any_tokens(self, part: Part, ends: Ends) -> Tree:
        self.check_end(ends, part)
        self.note_tokens(part)
        if part.count("max_tokens", None) == 0:
            return EMPTY
        return free_text({}, others=self.other_tokens(part, ends))

    def token_triggered_tags(self, part: Part, ends: Ends) -> Tree:
        self.check_end(ends, part)
        triggers = self.names_in(part, "trigger_tokens")
        found = []
        for tag in part.formats("tags", "tag"):
            tag.value("begin", Mapping, "a token, which is one of the trigger tokens")
            names = self.names_of_token(tag, "begin")
            if not set(names) <= set(triggers):
                raise tag_error(tag.at("begin"), quoted(names[0]), "one of the trigger tokens")
            inside = self.inside(tag, names[0])
            found += [(Special(name), inside) for name in names]
        words: Words = {word: either(*trees) for word, trees in grouped(found).items()}
        others = self.other_tokens(part, ends, *triggers)
        first = either(*(concat(spell(word), inside) for word, inside in found))
        return self.with_tags(part, first, lambda loop: free_text(words, others=others, loop=loop))

    def token_dispatch(self, part: Part, ends: Ends) -> Tree:
        self.check_end(ends, part)
        found = []
        for place, (token, content) in enumerate(part.rules()):
            tree = self.read(content, ends)
            found += [(Special(name), tree) for name in self.names(token, part.at("rules", place, 0))]
        words: Words = {word: self.rules.add(word.name, either(*trees)) for word, trees in grouped(found).items()}
        others = other_names([*self.names_in(part, "exclude_tokens", ()), *(word.name for word, _ in found)])
        return free_text(words, others=others, loop=part.flag("loop", default=True))


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
    "plus": FormatReader.plus,
    "repeat": FormatReader.repeat,
    "tag": FormatReader.tag,
    "triggered_tags": FormatReader.triggered_tags,
    "tags_with_separator": FormatReader.tags_with_separator,
    "dispatch": FormatReader.dispatch,
    "token": FormatReader.token,
    "exclude_token": FormatReader.exclude_token,
    "any_tokens": FormatReader.any_tokens,
    "token_triggered_tags": FormatReader.token_triggered_tags,
    "token_dispatch": FormatReader.token_dispatch,
}
