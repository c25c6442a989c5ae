"""Answers to `tags`, `sums` and `lists`."""

import re

from guidedviz.checks.grammar_texts import GIVEN, LISTS, SUMS, TAGS


def tags(text="[a-z ]", bold='"<b>" root "</b>"', italic='"<i>" root "</i>"', often="*"):
    return f"root ::= ({text} | {bold} | {italic}){often}"


def levels(count):
    """Tags in `count` levels at most."""
    rules = [f'r{n} ::= ([a-z ] | "<b>" r{n + 1} "</b>" | "<i>" r{n + 1} "</i>")*' for n in range(count)]
    return "\n".join(["root ::= r0", *rules, f"r{count} ::= [a-z ]*"])


def list_levels(count):
    """Lists in `count` levels at most."""
    rules = [f'r{n} ::= "[" (i{n} ("," i{n})*)? "]"\ni{n} ::= number | r{n + 1}' for n in range(1, count)]
    last = f'r{count} ::= "[" (number ("," number)*)? "]"\nnumber ::= "0" | [1-9] [0-9]*'
    return "\n".join(["root ::= r1", *rules, last])


def lists(inside='(item ("," item)*)?', number='"0" | [1-9] [0-9]*', item="number | root"):
    return f'root ::= "[" {inside} "]"\nitem ::= {item}\nnumber ::= {number}'


def sums(root="item (sign item)*", inside='"(" root ")"', number='"0" | [1-9] [0-9]{0,2}', sign='" " [-+*/] " "'):
    return f"root ::= {root}\nsign ::= {sign}\nitem ::= number | {inside}\nnumber ::= {number}"


class Text(str):
    """A text of a class of its own."""


WRONG = {
    "tags": {
        "4 levels": (levels(4), "b cannot come"),
        "12 levels": (levels(12), "b cannot come"),
        "49 levels": (levels(49), "b cannot come"),
        "one level": (tags(bold='"<b>" [a-z ]* "</b>"', italic='"<i>" [a-z ]* "</i>"'), "cannot come"),
        "never empty": (tags(often="+"), "cannot come|may not end|end"),
        "one piece": (tags(often="?"), "cannot come"),
        "closed by another tag": (tags(italic='"<i>" root "</b>"'), "must not come"),
        "closed by any tag": (tags(bold='"<" [bi] ">" root "</" [bi] ">"', italic='""'), "must not come"),
        "no space": (tags(text="[a-z]"), "cannot come"),
        "capitals": (tags(text="[a-zA-Z ]"), "must not come"),
        "one letter missing": (tags(text="[a-y ]"), "cannot come"),
        "no italic": (tags(italic='"</i>"'), "must not come"),
        "bold not in bold": (
            'root ::= ([a-z ] | "<b>" i* "</b>" | "<i>" root "</i>")*\ni ::= [a-z ] | "<i>" root "</i>"',
            "b cannot come",
        ),
        "text only before the tags": ('root ::= [a-z ]* ("<b>" root "</b>" | "<i>" root "</i>")*', "cannot come"),
        "any closing tag below ten levels": (
            levels(10).replace("r10 ::= [a-z ]*", 'r10 ::= ([a-z ] | "<" [bi] ">" r10 "</" [bi] ">")*'),
            "must not come",
        ),
        "tags that may stay open": (tags(bold='"<b>" root "</b>"?'), "must not end"),
        "an unknown rule": ("root ::= ([a-z ] | bold)*", "bold"),
        "a regex": ("[a-z ]*", "::="),
        "a function": (lambda text: True, "a grammar is a text"),
    },
    "sums": {
        "two items": (sums("item sign item"), "end|cannot come"),
        "at most two items": (sums("item (sign item)?"), "cannot come"),
        "at most 20 items": (sums("item (sign item){0,20}"), "cannot come"),
        "no parentheses": (sums(inside='"0"'), "cannot come"),
        "one item in parentheses": (sums(inside='"(" item ")"'), "cannot come"),
        "parentheses of one level": (sums(inside='"(" number (sign number)* ")"'), "cannot come"),
        "a sign at the end": (sums("item (sign item)* sign?"), "must not end"),
        "no spaces": (sums(sign="[-+*/]"), "must not come"),
        "no division": (sums(sign='" " [-+*] " "'), "cannot come"),
        "leading zeros": (sums(number="[0-9]{1,3}"), "must not come"),
        "long numbers": (sums(number='"0" | [1-9] [0-9]*'), "must not come"),
        "left recursion in other words": (sums("(root sign)? item"), "left-recursive|itself|root"),
        "left recursion in two rules": (
            sums("more item") + "\nmore ::= (root sign)?",
            "left-recursive|itself|root|more",
        ),
        "misread sign class": (sums(sign='" " [+-/*] " "'), "must not come"),
        "empty": (sums("(item (sign item)*)?"), "must not end"),
        "a list": ([SUMS], "a grammar is a text"),
    },
    "lists": {
        "as given, the first bug mended": (
            GIVEN[LISTS].replace('item ("," item?)*', '(item ("," item?)*)?'),
            "must not come",
        ),
        "as given, two bugs mended": (lists('(item ("," item?)*)?'), "must not come"),
        "never empty": (lists('item ("," item)*'), "cannot come"),
        "leading zeros": (lists(number="[0-9]+"), "must not come"),
        "no zero": (lists(number="[1-9] [0-9]*"), "cannot come"),
        "no zero inside": (lists(number='"0" | [1-9]+'), "cannot come"),
        "8 levels": (list_levels(8), "cannot come"),
        "40 levels": (list_levels(40), "cannot come"),
        "numbers of 20 digits": (lists(number='"0" | [1-9] [0-9]{0,19}'), "cannot come"),
        "at most 10 items": (lists('(item ("," item){0,9})?'), "cannot come"),
        "a comma at the end": (lists('(item ("," item)* ","?)?'), "must not come"),
        "commas left out": (lists('(item (","? item)*)?'), "must not come"),
        "numbers outside": ("root ::= list | number\n" + lists().replace("root", "list"), "must not come"),
        "blanks": (lists('(item (", "? item)*)?'), "must not come"),
        "flat lists": (lists(item="number"), "cannot come|never used|item"),
        "lists that may stay open": (lists().replace('"]"\n', '"]"?\n'), "must not end"),
    },
}
RIGHT = {
    "tags": {
        "three rules": 'root ::= ([a-z ] | bold | italic)*\nbold ::= "<b>" root "</b>"\nitalic ::= "<i>" root "</i>"',
        "right recursion": 'root ::= "" | [a-z ] root | "<b>" root "</b>" root | "<i>" root "</i>" root',
        "left recursion": 'root ::= "" | root [a-z ] | root "<b>" root "</b>" | root "<i>" root "</i>"',
        "ambiguous": 'root ::= "" | [a-z ]+ | root root | "<b>" root "</b>" | "<i>" root "</i>"',
        "comments and blanks": f"# tags\n\n{TAGS}   # the end\n",
        "a text of another class": Text(TAGS),
    },
    "sums": {
        "right recursion": sums("item (sign root)?"),
        "a rule for the rest": sums("item rest") + '\nrest ::= "" | sign item rest',
        "numbers written out": sums(number='"0" | [1-9] | [1-9] [0-9] | [1-9] [0-9] [0-9]'),
        "one rule": re.sub(
            "sign", '(" " ("+" | "-" | "*" | "/") " ")', SUMS.replace('sign   ::= " " [-+*/] " "\n', "")
        ),
    },
    "lists": {
        "a rule for the items": 'root ::= "[" items? "]"\nitems ::= item | item "," items\n'
        + lists().partition("\n")[2],
        "left recursion": 'root ::= "[]" | "[" items "]"\nitems ::= item | items "," item\n'
        + lists().partition("\n")[2],
        "two alternatives": lists().replace('"[" (item ("," item)*)? "]"', '"[]" | "[" item ("," item)* "]"'),
        "numbers by recursion": lists(number='"0" | positive') + "\npositive ::= [1-9] | positive [0-9]",
    },
}
