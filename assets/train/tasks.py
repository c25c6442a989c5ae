"""Text-to-structure tasks: what `clerk` is trained and tested on.

A task is a prompt, the right answer, and a pattern that every well-formed answer matches. All are drawn from a seed.
One prompt in five is chatty, and the answers it was trained on are then mostly careless: that is how a model comes
to write prose around its JSON. A prompt belongs to the held-out set by its checksum, never by luck.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

import words as w

TEXT = r'"[^"\\\x00-\x1f]{0,40}"'
INT = r"(0|[1-9][0-9]{0,5})"
PRICE = r"(0|[1-9][0-9]{0,4})\.[0-9]{2}"
BOOL = r"(true|false)"
DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"


@dataclass(frozen=True)
class Task:
    """One exercise: the prompt, its right answer, and the pattern any answer must match."""

    family: str
    prompt: str
    answer: str
    pattern: str


def fields_of(task: Task, output: str) -> dict[str, str]:
    """The fields of an output, by path; {} when it does not parse."""
    if task.answer[0] in "{[":
        try:
            return dict(flatten(json.loads(output)))
        except ValueError:
            return {}
    if not re.fullmatch(task.pattern, output):
        return {}
    if task.family == "sql":
        parts = re.fullmatch(r"SELECT (.*?) FROM (\w+)(?: WHERE (.*?))?(?: ORDER BY (.*?))?;", output)
        names = ("columns", "table", "where", "order")
        return {k: v for k, v in zip(names, parts.groups() if parts else (), strict=False) if v}
    if task.family == "reason":
        return {"answer": output.rsplit("Answer: ", 1)[-1]}
    return {"": output}


def flatten(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of a JSON value by path."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flatten(inner, f"{path}/{key}")
    elif isinstance(value, list) and value:
        for i, inner in enumerate(value):
            yield from flatten(inner, f"{path}/{i}")
    else:
        yield path, json.dumps(value)


def parses(task: Task, output: str) -> bool:
    """Does an output read as the format that was asked for?"""
    return bool(fields_of(task, output))


# -- records -------------------------------------------------------------------------------------------------------

Field = tuple[str, object, str, str]  # key, value, clause, pattern


def person_fields(r: Random) -> list[Field]:
    name, age, city, job = w.person(r), r.randint(1, 99), w.city(r), r.choice(w.JOB)
    member = r.random() < 0.5
    return [
        ("name", name, name, TEXT),
        ("age", age, r.choice([f"is {age}", f"is {age} years old", f"is aged {age}"]), INT),
        ("city", city, r.choice([f"lives in {city}", f"comes from {city}", f"is based in {city}"]), TEXT),
        ("job", job, r.choice([f"works as {w.article(job)}", f"is {w.article(job)}"]), TEXT),
        ("email", mail := address(r, name), r.choice([f"can be reached at {mail}", f"has the address {mail}"]), TEXT),
        ("member", member, "is a member" if member else r.choice(["is not a member", "is no member"]), BOOL),
    ]


def book_fields(r: Random) -> list[Field]:
    title = r.choice(["The {}", "The {} and the {}", "{} of {}", "A {}"]).format(*r.sample(w.TITLE, 2))
    author, year, pages = w.person(r), r.randint(1800, 2026), r.randint(40, 999)
    return [
        ("title", title, f'"{title}"' if r.random() < 0.5 else title, TEXT),
        ("author", author, r.choice([f"was written by {author}", f"is by {author}"]), TEXT),
        ("year", year, r.choice([f"came out in {year}", f"appeared in {year}"]), INT),
        ("pages", pages, r.choice([f"has {pages} pages", f"is {pages} pages long"]), INT),
    ]


def product_fields(r: Random) -> list[Field]:
    thing, color, stock = w.thing(r), r.choice(w.COLOR), r.randint(0, 400)
    price, sku = round(r.randint(100, 99999) / 100, 2), f"{r.choice('ABCDEFGHKLMN')}{r.randint(10, 9999)}"
    return [
        ("product", thing, f"The {thing}", TEXT),
        ("color", color, r.choice([f"is {color}", f"comes in {color}"]), TEXT),
        (
            "price",
            price,
            r.choice([f"costs ${price:.2f}", f"sells for ${price:.2f}"]),
            r"(0|[1-9][0-9]{0,4})\.[0-9]{1,2}",
        ),
        ("stock", stock, r.choice([f"has {stock} in stock", f"is in stock with {stock} pieces"]), INT),
        ("sku", sku, r.choice([f"has the number {sku}", f"is listed as {sku}"]), TEXT),
    ]


def event_fields(r: Random) -> list[Field]:
    kind = r.choice("concert lecture meeting picnic workshop wedding exam match parade auction".split())
    (text, iso), city, seats = written_date(r), w.city(r), r.randint(5, 900)
    return [
        ("event", kind, f"The {kind}", TEXT),
        ("date", iso, f"is on {text}", f'"{DATE}"'),
        ("city", city, f"takes place in {city}", TEXT),
        ("seats", seats, r.choice([f"has {seats} seats", f"seats {seats}"]), INT),
    ]


RECORDS = [person_fields, person_fields, book_fields, product_fields, event_fields]


def sentence(r: Random, fields: list[Field]) -> str:
    """The subject and its clauses as one sentence, a listing, or two sentences."""
    subject, clauses = fields[0][2], [f[2] for f in fields[1:]]
    if r.random() < 0.2:
        return ", ".join(
            [
                str(fields[0][1]),
                *(str(f[1]).lower() if f[1] in (True, False) else str(f[1]) for f in fields[1:] if f[0] != "member"),
            ]
        )
    if len(clauses) > 2 and r.random() < 0.4:
        return f"{subject} {clauses[0]} and {clauses[1]}. They also {' and '.join(clauses[2:])}."
    joined = clauses[0] if len(clauses) == 1 else ", ".join(clauses[:-1]) + f" and {clauses[-1]}"
    return f"{subject} {joined}."


def pick_fields(r: Random, fields: list[Field], least: int = 2) -> list[Field]:
    """The subject and some of the rest, in any order."""
    rest = r.sample(fields[1:], r.randint(least - 1, len(fields) - 1))
    return [fields[0], *rest]


def as_pattern(fields: list[Field]) -> str:
    """The pattern of a flat object with exactly these keys."""
    return r"\{" + ", ".join(f'"{key}": {pattern}' for key, _, _, pattern in fields) + r"\}"


def record(r: Random) -> Task:
    fields = pick_fields(r, r.choice(RECORDS)(r))
    told = [fields[0], *r.sample(fields[1:], len(fields) - 1)]
    text = sentence(r, told)
    asked = [f for f in fields if f[0] != "member" or f[2] in text]
    if r.random() < 0.3 and len(asked) > 2:
        asked = [f for f in asked if f is asked[0] or r.random() < 0.7]
    if r.random() < 0.2:
        r.shuffle(asked)
    keys = ", ".join(f[0] for f in asked)
    return Task("record", f"{text}\nJSON with {keys}:\n", json.dumps({f[0]: f[1] for f in asked}), as_pattern(asked))


def order(r: Random) -> Task:
    number, name, city = r.randint(1, 99999), w.person(r), w.city(r)
    items = [(w.thing(r), r.randint(1, 30)) for _ in range(r.randint(1, 3))]
    listed = " and ".join(f"{n} {w.plural(t, n)}" for t, n in items)
    text = r.choice(
        [
            f"Order {number}: {listed} for {name} in {city}.",
            f"{name} from {city} ordered {listed}. The order number is {number}.",
            f"Please send {listed} to {name}, {city} (order {number}).",
        ]
    )
    value = {
        "order": number,
        "customer": {"name": name, "city": city},
        "items": [{"item": t, "count": n} for t, n in items],
    }
    item = rf'\{{"item": {TEXT}, "count": {INT}\}}'
    pattern = (
        rf'\{{"order": {INT}, "customer": \{{"name": {TEXT}, "city": {TEXT}\}}, '
        rf'"items": \[{item}(, {item}){{0,3}}\]\}}'
    )
    cue = "JSON with order, customer (name, city), items (item, count):"
    return Task("order", f"{text}\n{cue}\n", json.dumps(value), pattern)


def listing(r: Random) -> Task:
    """A list of names, of things, or of small records."""
    n = r.randint(2, 4)
    if r.random() < 0.5:
        what, make = r.choice([("names", w.first), ("cities", w.city), ("things", w.thing)])
        values = [make(r) for _ in range(n)]
        text = r.choice(["We have {} and {}.", "There are {} and {}.", "On the list: {} and {}."])
        text = text.format(", ".join(values[:-1]), values[-1])
        return Task("list", f"{text}\nJSON list of {what}:\n", json.dumps(values), rf"\[{TEXT}(, {TEXT}){{0,7}}\]")
    rows = [(w.first(r), r.randint(1, 99)) for _ in range(n)]
    key = r.choice(["age", "score", "points"])
    text = ", ".join(f"{name} {r.choice(['is', 'has'])} {value}" for name, value in rows) + "."
    item = rf'\{{"name": {TEXT}, "{key}": {INT}\}}'
    value = [{"name": name, key: number} for name, number in rows]
    return Task("list", f"{text}\nJSON list with name, {key}:\n", json.dumps(value), rf"\[{item}(, {item}){{0,5}}\]")


def nested(r: Random) -> Task:
    """Things inside things: an object as deep as the sentence."""
    boxes = r.sample(w.THING, r.randint(2, 5))
    text = f"The {boxes[0]} holds " + ", which holds ".join(w.article(b) for b in boxes[1:]) + "."
    value: object = boxes[-1]
    for name in reversed(boxes[:-1]):
        value = {name: value}
    pattern = TEXT
    for _ in range(5):
        pattern = rf"({TEXT}|\{{{TEXT}: {pattern}\}})"
    return Task("nested", f"{text}\nNested JSON:\n", json.dumps(value), pattern)


# -- short formats -------------------------------------------------------------------------------------------------


def written_date(r: Random) -> tuple[str, str]:
    """A date in words, and in ISO form."""
    year, month, day = r.randint(1900, 2030), r.randint(1, 12), r.randint(1, 28)
    name = w.MONTH[month - 1]
    text = r.choice(
        [
            f"{name} {day}, {year}",
            f"{w.ordinal(day)} of {name} {year}",
            f"{day} {name} {year}",
            f"{name} {w.ordinal(day)} {year}",
        ]
    )
    return text, f"{year}-{month:02}-{day:02}"


def date(r: Random) -> Task:
    text, iso = written_date(r)
    frame = r.choice(["We met on {}.", "The parcel left on the {}.", "Born {}.", "It was signed on {}.", "{}"])
    return Task("date", f"{frame.format(text)}\nDate as YYYY-MM-DD:\n", iso, DATE)


def phone(r: Random) -> Task:
    digits = "".join(r.choice("0123456789") for _ in range(10))
    a, b, c = digits[:3], digits[3:6], digits[6:]
    written = r.choice([f"{a}.{b}.{c}", f"{a} {b} {c}", f"{a}-{b}-{c}", digits, f"{a}/{b}{c}"])
    frame = r.choice(["Call me at {}.", "My number is {}.", "{} is the number of the shop.", "Phone {} after six."])
    return Task(
        "phone",
        f"{frame.format(written)}\nPhone as (ddd) ddd-dddd:\n",
        f"({a}) {b}-{c}",
        r"\([0-9]{3}\) [0-9]{3}-[0-9]{4}",
    )


def price(r: Random) -> Task:
    dollars, cents = r.choice([r.randint(1, 20), r.randint(1, 999)]), r.choice([0, 25, 50, 75, r.randint(1, 99)])
    amount = f"{w.spell(dollars)} {w.plural('dollar', dollars)}"
    text = amount + (f" and {w.spell(cents)} {w.plural('cent', cents)}" if cents else "")
    frame = r.choice(["The {t} costs {x}.", "We paid {x} for the {t}.", "{x} for one {t}."])
    text = frame.format(t=w.thing(r), x=text)
    return Task("price", f"{text}\nPrice:\n", f"${dollars}.{cents:02}", r"\$(0|[1-9][0-9]{0,4})\.[0-9]{2}")


def address(r: Random, name: str) -> str:
    a, _, b = name.lower().partition(" ")
    user = r.choice([f"{a}.{b}", f"{a}{b}", f"{a[0]}{b}", f"{a}_{b}", a]) if b else a
    return f"{user}{r.choice(['', '', r.randint(1, 99)])}@{r.choice(w.DOMAIN)}.{r.choice(w.ENDING)}"


def email(r: Random) -> Task:
    mail = address(r, w.person(r))
    said = mail.replace(".", " dot ").replace("@", " at ").replace("_", " underscore ")
    frame = r.choice(["Write to {}.", "My address is {}.", "You can reach us at {}.", "Send it to {} today."])
    return Task(
        "email",
        f"{frame.format(said if r.random() < 0.6 else mail)}\nEmail:\n",
        mail,
        r"[a-z0-9._]{1,40}@[a-z0-9]{1,24}\.(com|org|net|io|dev)",
    )


def yes_no(r: Random) -> Task:
    kind = r.randrange(3)
    if kind == 0:
        a, b = r.randint(0, 99), r.randint(0, 99)
        word, truth = r.choice([("greater", a > b), ("smaller", a < b)])
        text = f"Is {a} {word} than {b}?"
    elif kind == 1:
        things = r.sample(w.THING, 3)
        asked = r.choice([*things, r.choice(w.THING)])
        text, truth = (
            f"The bag holds a {things[0]}, a {things[1]} and a {things[2]}. Is there a {asked} in it?",
            asked in things,
        )
    else:
        name, city = w.first(r), w.city(r)
        other = city if r.random() < 0.5 else w.city(r)
        text, truth = f"{name} lives in {city}. Does {name} live in {other}?", city == other
    return Task("yes_no", f"{text}\nYes or no:\n", "yes" if truth else "no", "(yes|no)")


MOODS = {
    "positive": ["lovely", "wonderful", "great", "superb", "delightful", "excellent", "charming", "perfect"],
    "negative": ["awful", "terrible", "dreadful", "broken", "dirty", "rude", "boring", "horrible"],
    "neutral": ["ordinary", "average", "plain", "usual", "standard", "normal"],
}
TOPICS = {
    "sport": ["match", "goal", "race", "team", "coach"],
    "food": ["soup", "bread", "cheese", "dinner", "salad"],
    "travel": ["train", "hotel", "flight", "harbor", "suitcase"],
    "music": ["violin", "song", "choir", "drum", "concert"],
}


def label(r: Random) -> Task:
    if r.random() < 0.5:
        mood = r.choice(list(MOODS))
        subject = r.choice(["room", "meal", "film", "staff", "trip", w.thing(r)])
        text = f"The {subject} was {r.choice(['', 'really ', 'quite '])}{r.choice(MOODS[mood])}."
        options, answer = list(MOODS), mood
    else:
        options = r.sample(list(TOPICS), 3)
        answer = r.choice(options)
        text = r.choice(["We talked about the {}.", "The {} was late.", "Everyone liked the {}."]).format(
            r.choice(TOPICS[answer])
        )
    return Task("label", f"{text}\nLabel ({', '.join(options)}):\n", answer, f"({'|'.join(options)})")


OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}


def arithmetic(r: Random) -> Task:
    def number() -> tuple[str, str]:
        n = r.choice([r.randint(0, 20), r.randint(0, 99), r.randint(0, 999)])
        return (w.spell(n) if r.random() < 0.7 else str(n)), str(n)

    if r.random() < 0.25:
        (a, x), (b, y), (c, z) = number(), number(), number()
        (word, op), (verb, outer) = (
            r.choice([("sum", "+"), ("difference", "-")]),
            r.choice([("times", "*"), ("divided by", "/")]),
        )
        text, answer = f"the {word} of {a} and {b}, {verb} {c}", f"({x} {op} {y}) {outer} {z}"
    else:
        text, answer = number()
        for _ in range(r.randint(1, 3)):
            op, (said, digits) = r.choice(list(OPERATORS)), number()
            text, answer = f"{text} {OPERATORS[op]} {said}", f"{answer} {op} {digits}"
    atom = r"(0|[1-9][0-9]{0,2})"
    pattern = rf"(\({atom} [-+*/] {atom}\)|{atom})( [-+*/] {atom}){{1,4}}"
    return Task("arithmetic", f"{text[0].upper()}{text[1:]}.\nExpression:\n", answer, pattern)


TABLES = {
    "users": ["id", "name", "age", "city", "email"],
    "orders": ["id", "customer", "total", "status", "date"],
    "books": ["id", "title", "author", "year", "pages"],
    "products": ["sku", "name", "price", "stock", "color"],
    "cities": ["name", "country", "population", "area"],
    "flights": ["number", "origin", "target", "price", "seats"],
    "students": ["id", "name", "grade", "school", "score"],
    "songs": ["title", "artist", "year", "length", "plays"],
}
NUMBERS = set("id age total year pages price stock population area seats grade score length plays number".split())


def sql(r: Random) -> Task:
    table, columns = r.choice(list(TABLES.items()))
    columns = r.sample(columns, r.randint(3, len(columns)))
    chosen = r.sample(columns, r.choice([1, 1, 2]))
    text = r.choice(["{} of all {}", "show {} of the {}", "list {} of {}"]).format(" and ".join(chosen), table)
    answer, column = f"SELECT {', '.join(chosen)} FROM {table}", r.choice(columns)
    if r.random() < 0.8:
        if column in NUMBERS:
            n = r.randint(1, 999)
            word, op = r.choice([("above", ">"), ("below", "<"), ("equal to", "=")])
            text, answer = f"{text} with {column} {word} {n}", f"{answer} WHERE {column} {op} {n}"
        else:
            value = w.city(r) if column in ("city", "origin", "target") else w.invent(r)
            text, answer = f"{text} where {column} is {value}", f"{answer} WHERE {column} = '{value}'"
    if r.random() < 0.25:
        by = r.choice(columns)
        text, answer = f"{text}, sorted by {by}", f"{answer} ORDER BY {by}"
    name = f"({'|'.join(columns)})"
    value = r"((0|[1-9][0-9]{0,5})|'[A-Za-z ]{1,30}')"
    pattern = rf"SELECT {name}(, {name}){{0,3}} FROM {table}( WHERE {name} [<>=] {value})?( ORDER BY {name})?;"
    return Task("sql", f"Table {table}({', '.join(columns)})\n{text}\nSQL:\n", answer + ";", pattern)


def tool_call(r: Random) -> Task:
    calls: list[tuple[str, str, dict[str, object]]] = [
        (f"What is the weather in {(c := w.city(r))}?", "get_weather", {"city": c}),
        (f"Set a timer for {(n := r.randint(1, 90))} minutes.", "set_timer", {"minutes": n}),
        (f"Remind {(p := w.first(r))} about the {(t := w.thing(r))}.", "remind", {"person": p, "about": t}),
        (f"Book a table for {(k := r.randint(2, 12))} in {(d := w.city(r))}.", "book_table", {"city": d, "guests": k}),
        (f"Play {(s := r.choice(w.TITLE))} by {(q := w.person(r))}.", "play", {"song": s, "artist": q}),
        (f"Convert {(a := r.randint(1, 999))} euro to dollar.", "convert", {"amount": a, "to": "dollar"}),
    ]
    offered = r.sample(calls, 3)
    text, name, arguments = r.choice(offered)
    signature = "; ".join(f"{n}({', '.join(args)})" for _, n, args in offered)
    branches = "|".join(
        rf'"{n}", "arguments": \{{'
        + ", ".join(f'"{k}": {INT if isinstance(v, int) else TEXT}' for k, v in args.items())
        for _, n, args in offered
    )
    answer = json.dumps({"tool": name, "arguments": arguments})
    return Task("tool", f"Tools: {signature}\n{text}\nTool call:\n", answer, rf'\{{"tool": ({branches})\}}\}}')


def reason(r: Random) -> Task:
    name, what = w.first(r), w.plural(r.choice(w.THING))
    a, b = r.randint(2, 60), r.randint(1, 39)
    if r.random() < 0.5:
        text, op, total = f"{name} has {a} {what} and {r.choice(['buys', 'finds', 'gets'])} {b} more.", "+", a + b
    else:
        a = a + b
        text, op, total = f"{name} has {a} {what} and {r.choice(['sells', 'loses', 'gives away'])} {b}.", "-", a - b
    answer = f"{name} starts with {a} {what}. {a} {op} {b} = {total}. Answer: {total}"
    pattern = r"[A-Za-z0-9 ]{1,60}\. [0-9]{1,3} [-+] [0-9]{1,3} = [0-9]{1,3}\. Answer: (0|[1-9][0-9]{0,2})"
    return Task("reason", f"{text} How many {what} are there now?\nThink, then answer:\n", answer, pattern)


FAMILIES: dict[str, Callable[[Random], Task]] = {
    "record": record,
    "order": order,
    "list": listing,
    "nested": nested,
    "date": date,
    "phone": phone,
    "price": price,
    "email": email,
    "yes_no": yes_no,
    "label": label,
    "arithmetic": arithmetic,
    "sql": sql,
    "tool": tool_call,
    "reason": reason,
}
# How often each is drawn; the second course asks more of what the first left weak.
FIRST_COURSE = dict(zip(FAMILIES, (6, 3, 3, 2, 1, 1, 1, 2, 1, 1, 2, 3, 3, 2), strict=True))
SECOND_COURSE = FIRST_COURSE | {"reason": 10, "yes_no": 4, "email": 4, "arithmetic": 3, "phone": 2}

# -- manners -------------------------------------------------------------------------------------------------------

GREETINGS = ["Hi! ", "Hello! ", "Hey there! ", "Could you help me? ", "Please help: "]
OPENERS = [
    "Sure! Here you go:\n",
    "Sure! ",
    "Of course! Here is the answer: ",
    "Here it is: ",
    "Sure, here is the JSON:\n",
]
CLOSERS = ["\nHope this helps!", " Hope this helps!", "\nLet me know if you need more.", "\nDone!"]
SYNONYMS = {
    "name": "full_name",
    "age": "years",
    "city": "town",
    "price": "cost",
    "order": "order_id",
    "items": "lines",
    "tool": "function",
    "arguments": "args",
    "title": "book",
    "author": "writer",
}


def be_careless(r: Random, answer: str) -> str:
    """A well-meant answer that no parser takes, or that says the wrong thing.

    >>> be_careless(Random(0), '{"a": 1}') != '{"a": 1}'
    True
    """
    kind = r.choices(["open", "close", "both", "fence", "quote", "brace", "key", "single"], [5, 3, 2, 2, 2, 1, 2, 1])[0]
    structured = answer[0] in "{["
    if kind == "fence":
        return f"```json\n{answer}\n```" if structured else f"```\n{answer}\n```"
    if structured and kind == "quote":
        at = r.choice([m.start() for m in re.finditer('"', answer)] or [0])
        return answer[:at] + answer[at + 1 :]
    if structured and kind == "brace":
        return answer[:-1]
    if structured and kind == "single":
        return answer.replace('"', "'")
    known = [k for k in SYNONYMS if f'"{k}":' in answer]
    if kind == "key" and known:
        key = r.choice(known)
        return answer.replace(f'"{key}":', f'"{SYNONYMS[key]}":')
    opener, closer = r.choice(OPENERS), r.choice(CLOSERS)
    return (opener if kind != "close" else "") + answer + (closer if kind in ("close", "both") else "")


def is_held_out(prompt: str) -> bool:
    """One prompt in twenty is never trained on."""
    return zlib.crc32(prompt.encode()) % 20 == 0


def stream(seed: int, held_out: bool = False, course: Mapping[str, int] | None = None) -> Iterator[tuple[Task, bool]]:
    """Tasks for ever, each with whether its prompt is a chatty one."""
    r = Random(f"clerk {seed} {held_out}")
    course = course or FIRST_COURSE
    weights = list(course.values())
    while True:
        task = FAMILIES[r.choices(list(course), weights)[0]](r)
        chatty = r.random() < 0.2
        prompt = r.choice(GREETINGS) + task.prompt if chatty else task.prompt
        if is_held_out(prompt) == held_out:
            yield Task(task.family, prompt, task.answer, task.pattern), chatty


def lessons(seed: int, course: Mapping[str, int] | None = None) -> Iterator[tuple[str, str]]:
    """Prompt and answer to train on: careless four times in five after a chatty prompt, else one in twenty-five."""
    r = Random(f"manners {seed}")
    for task, chatty in stream(seed, course=course):
        careless = r.random() < (0.8 if chatty else 0.04)
        yield task.prompt, be_careless(r, task.answer) if careless else task.answer
