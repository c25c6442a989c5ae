"""What the model is asked: seeded prompts, the constraint of each way, and the right answers.

A *case* is one prompt with its right answer. Each record asks all its cases in several *ways*: other words around the
same fact, with a mask or without. The words were fixed after a pilot of ten cases, before the run that is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import guidedviz as gv

SEED = 20261125
COUNTS = {"dates": 100, "labels": 100, "sums-one": 50, "sums": 50, "blanks": 20, "orders": 30, "json": 120, "jumps": 24}


@dataclass(frozen=True)
class Way:
    """The words after the fact, the machine of the mask (None: free), and the limit of tokens."""

    words: str
    machine: Any = None
    most: int = 80
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Case:
    """A fact that the prompt tells, and the right answer."""

    fact: str
    right: Any


FIRST = """Ada Alan Amina Anna Ben Boris Carla Chen Clara David Diego Elena Emil Farid Fatima Felix Grace Hana Hugo Ida
Ines Ivan James Jonas Kofi Lars Leila Lena Maria Marco Mei Nadia Noor Olga Omar Paul Priya Rosa Samuel Zoe""".split()
LAST = """Adams Bauer Brook Carter Cohen Costa Diaz Dubois Eriksen Ferrari Fischer Garcia Haddad Hansen Ito Jensen Kaya
Keller Khan Kim Lopez Marin Mehta Moreau Murphy Nagy Novak Okoro Park Petrov Quinn Rossi Silva Sousa Tanaka Turner
Vega Weber Wong Young""".split()
CITIES = """Athens Berlin Bern Boston Cairo Chicago Dakar Delhi Dublin Geneva Hanoi Istanbul Kyoto Leeds Lima Lisbon
London Lyon Madrid Mumbai Nairobi Oslo Paris Porto Prague Quito Riga Rome Seoul Sofia Sydney Tallinn Tokyo Toronto
Tunis Vienna Warsaw York Zagreb Zurich""".split()


def object_of(**fields: Any) -> dict[str, Any]:
    """The schema of an object with these fields, all required."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
PERSON = object_of(name=TEXT, age=NUMBER, city=TEXT)

# 1 · people: JSON asked for by its keys, asked for, or not asked for

TELLINGS = (
    "{name} is {age} years old and lives in {city}.",
    "{name}, {age}, lives in {city}.",
    "In {city} lives {name}, who is {age} years old.",
    "Meet {name} from {city}, aged {age}.",
    "My neighbour {name} turned {age} this year and has moved to {city}.",
)
EXACT = "Answer only with a JSON object with the keys name, age and city."
WHO = "Who is this person?"
PEOPLE = {
    f"{asked}, {masked}": Way(words, gv.json_schema(PERSON) if masked == "mask" else None)
    for asked, words in (("keys", EXACT), ("json", "Give me this as JSON."), ("not asked", WHO))
    for masked in ("free", "mask")
}


def people(count: int) -> Iterator[Case]:
    """People with a name, an age and a city."""
    random = Random(SEED)
    for number in range(count):
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        facts = {"name": name, "age": random.randint(18, 90), "city": random.choice(CITIES)}
        yield Case(TELLINGS[number % len(TELLINGS)].format(**facts), facts)


# 2 · dates in words

EVENTS = (
    "The bridge was opened on {day}.",
    "She was born on {day}.",
    "The letter was written on {day}.",
    "On {day} the museum was founded.",
    "The ship sailed on {day}.",
)
MONTHS = "January February March April May June July August September October November December".split()
UNITS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split()
ORDINALS = [*UNITS, *(f"twenty-{unit}" for unit in UNITS[:9]), "thirtieth", "thirty-first"]
AS_DATE = "Write this date as YYYY-MM-DD. Answer only with the date."
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
REAL_DATE = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
DATES = {
    "free": Way(AS_DATE, most=40),
    "mask": Way(AS_DATE, gv.regex(DATE)),
    "mask of months and days": Way(AS_DATE, gv.regex(REAL_DATE)),
}


def ending(day: int) -> str:
    """The letters after the number of a day: 1st, 2nd, 3rd, 4th.

    >>> [f"{day}{ending(day)}" for day in (1, 2, 3, 4, 11, 22, 30)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '30th']
    """
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def in_words(day: date, form: int) -> str:
    """A date in one of four usual forms.

    >>> [in_words(date(1987, 5, 3), form) for form in range(4)]
    ['3 May 1987', 'May 3, 1987', 'May 3rd, 1987', 'the third of May 1987']
    """
    month, number = MONTHS[day.month - 1], day.day
    return (
        f"{number} {month} {day.year}",
        f"{month} {number}, {day.year}",
        f"{month} {number}{ending(number)}, {day.year}",
        f"the {ORDINALS[number - 1]} of {month} {day.year}",
    )[form]


def dates(count: int) -> Iterator[Case]:
    """Sentences with a date between 1900 and 2025."""
    random = Random(SEED + 1)
    for number in range(count):
        day = date(1900, 1, 1) + timedelta(days=random.randrange(45_000))
        yield Case(EVENTS[number % 5].format(day=in_words(day, number // 5 % 4)), day.isoformat())


# 3 · labels

LABELS, GOOD = ("positive", "negative", "neutral"), ("good", "bad", "okay")
CLASSIFY = "Is the sentiment of this sentence {}, {} or {}? Answer with one word."


def choice(labels: tuple[str, ...]) -> Any:
    """The machine of these texts."""
    return gv.regex("|".join(labels))


IN_ORDER = CLASSIFY.format(*LABELS)
SENTIMENT = {
    "free": Way(IN_ORDER, most=24),
    "mask": Way(IN_ORDER, choice(LABELS)),
    "mask with capitals": Way(IN_ORDER, choice(tuple(map(str.capitalize, LABELS)))),
    "mask, order negative, neutral, positive": Way(CLASSIFY.format("negative", "neutral", "positive"), choice(LABELS)),
    "mask, order neutral, positive, negative": Way(CLASSIFY.format("neutral", "positive", "negative"), choice(LABELS)),
    "mask of synonyms, asked for": Way(CLASSIFY.format(*GOOD), choice(GOOD)),
    "mask of synonyms, not asked for": Way(IN_ORDER, choice(GOOD)),
}
MEANS = dict(zip(GOOD, LABELS, strict=True))


def sentences(count: int) -> Iterator[Case]:
    """Sentences of `sentences.txt` with their labels, in a seeded order."""
    lines = (Path(__file__).parent / "sentences.txt").read_text(encoding="utf-8").splitlines()
    for line in Random(SEED + 2).sample(lines, count):
        label, sentence = line.split("\t")
        yield Case(sentence, label)


# 4 · orders: an object inside, and a list

CUSTOMER, ITEM = object_of(name=TEXT, city=TEXT), object_of(product=TEXT, count=NUMBER)
ORDER = object_of(customer=CUSTOMER, items={"type": "array", "items": ITEM})
SHORT_ORDER = object_of(customer=CUSTOMER, items={"type": "array", "items": ITEM, "maxItems": 3})
ORDERINGS = (
    "{name} from {city} orders {items}.",
    "Order by {name}, {city}: {items}.",
    "Please send {items} to {name} in {city}.",
)
PRODUCTS = "lamps chairs tables pens books cups plates forks bags shoes hats clocks mirrors carpets pillows".split()
AS_ORDER = (
    "Answer only with a JSON object with two keys: customer, an object with the keys name and city, "
    "and items, a list of objects with the keys product and count."
)
ORDERS = {
    "free": Way(AS_ORDER, most=120),
    "mask": Way(AS_ORDER, gv.json_schema(ORDER), most=120),
    "mask, at most 3 items": Way(AS_ORDER, gv.json_schema(SHORT_ORDER), most=120),
}


def orders(count: int) -> Iterator[Case]:
    """Orders of one, two or three products."""
    random = Random(SEED + 3)
    for number in range(count):
        name, city = f"{random.choice(FIRST)} {random.choice(LAST)}", random.choice(CITIES)
        items = [(product, random.randint(2, 20)) for product in random.sample(PRODUCTS, 1 + number % 3)]
        said = [f"{amount} {product}" for product, amount in items]
        listed = ", ".join(said[:-1]) + " and " * (len(said) > 1) + said[-1]
        right = {"customer": {"name": name, "city": city}, "items": [{"product": p, "count": n} for p, n in items]}
        yield Case(ORDERINGS[number // 3 % 3].format(name=name, city=city, items=listed), right)


# 5 · sums of one step and of two

PROBLEMS = (
    ("{a} has {x} {things}. {a} buys {y} more and gives {z} to {b}. How many {things} does {a} have now?",
     lambda x, y, z: x + y - z),
    ("{a} buys {x} boxes with {y} {things} each and loses {z} {things}. How many {things} are left?",
     lambda x, y, z: x * y - z),
    ("A bus carries {p} people. First {y} get off, and then {z} get on. How many people are on the bus?",
     lambda x, y, z: x + 10 - y + z),
    ("{a} makes {x} {things} per day for {y} days, and then {z} more. How many {things} does {a} make?",
     lambda x, y, z: x * y + z),
    ("{a} has {x} {things}. {b} has {y} more {things} than {a}. How many {things} do they have together?",
     lambda x, y, z: 2 * x + y),
)  # fmt: skip
ONE_STEP = (
    ("{a} has {x} {things} and buys {y} more. How many {things} does {a} have now?", lambda x, y: x + y),
    ("{a} has {p} {things} and gives {y} to {b}. How many {things} does {a} have now?", lambda x, y: x + 10 - y),
    ("{a} has {x} {things} and {b} has {y}. How many {things} do they have together?", lambda x, y: x + y),
    ("{a} buys {x} boxes with {y} {things} each. How many {things} does {a} buy?", lambda x, y: x * y),
    ("There are {p} {things} on a table. {a} takes {y} of them. How many {things} are left?", lambda x, y: x + 10 - y),
)
WHOLE = "0|[1-9][0-9]{0,3}"
ONLY = "Answer with the number only."
THINK = 'Think step by step, then write "Answer:" and the number.'
AS_ANSWER = "Answer only with a JSON object with the key answer."
AS_REASONING = "Answer only with a JSON object with the keys reasoning and answer, in this order."
SHORT = {"type": "string", "maxLength": 300}
SUMS = {
    "number, free": Way(ONLY, most=40),
    "number, mask": Way(ONLY, gv.regex(WHOLE)),
    "think, free": Way(THINK, most=80),
    "answer in JSON, free": Way(AS_ANSWER, most=40),
    "answer in JSON, mask": Way(AS_ANSWER, gv.json_schema(object_of(answer=NUMBER))),
    "reasoning in JSON, free": Way(AS_REASONING, most=130),
    "reasoning in JSON, mask": Way(AS_REASONING, gv.json_schema(object_of(reasoning=SHORT, answer=NUMBER)), most=130),
}
AFTER = "think free, then a masked answer"  # the thought of "think, free", then this:
CUE = "\nAnswer:"
AFTER_MASK = gv.regex(f" ?({WHOLE})")


def problems(count: int, kinds: tuple[Any, ...]) -> Iterator[Case]:
    """Word problems with small numbers; the answer is a whole number, at least 0."""
    random = Random(SEED + 4)
    things = "apples pens books coins cards cups stones shells stamps marbles".split()
    for number in range(count):
        text, solve = kinds[number % len(kinds)]
        numbers = [random.randint(3, 9), random.randint(2, 9), random.randint(2, 5)][: solve.__code__.co_argcount]
        x, y, z = (*numbers, 0)[:3]
        a, b = random.sample(FIRST, 2)
        fact = text.format(x=x, y=y, z=z, p=x + 10, a=a, b=b, things=random.choice(things))
        yield Case(fact, solve(*numbers))


# 6 · a schema that allows any whitespace

ANY = gv.json_schema(PERSON, whitespace="any")
BLANKS = {
    f"{asked}, T {temperature:g}, seed {seed}": Way(words, ANY, most=100, temperature=temperature, seed=seed)
    for asked, words in (("keys", EXACT), ("not asked", WHO))
    for temperature, seed in ((0.0, 0), (1.0, 0), (1.0, 1))
}

# 7 and 8 · schemas with fixed keys and one blank, for jump-forward and for drafts

COLOUR = {"enum": ["pin", "pink", "red"]}
FIXED: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    (PERSON, tuple(case.fact for case in people(3))),
    (object_of(title=TEXT, author=TEXT, year=NUMBER), (
        'George Orwell wrote "Animal Farm" in 1945.',
        '"Emma" is a novel by Jane Austen of 1815.',
        'In 1851 Herman Melville published "Moby Dick".')),
    (object_of(event=TEXT, day=TEXT, seats=NUMBER), (
        "The wedding on Friday has 141 seats.",
        "There are 60 seats for the concert on Sunday.",
        "The lecture is on Monday, and the room has 25 seats.")),
    (object_of(product=TEXT, color=COLOUR, price={"type": "number"}), (
        "The lamp is pink and costs 12.50 dollars.",
        "A red scarf costs 8 dollars.",
        "We sell a pink umbrella for 19.99 dollars.")),
    (object_of(city=TEXT, degrees=NUMBER, rain={"type": "boolean"}), (
        "In Oslo it rains, and it is 7 degrees warm.",
        "Cairo has 35 degrees and no rain.",
        "It is 18 degrees in Lyon, and it rains.")),
    (object_of(customer=CUSTOMER, orderId=NUMBER), (
        "Order 4711 is by Maria Lopez from Madrid.",
        "Paul Weber from Bern has sent order 205.",
        "Order 88 comes from Hana Ito in Kyoto.")),
    (object_of(fruits={"type": "array", "items": TEXT}), (
        "There are apples, pears and plums.",
        "We bought cherries and figs.",
        "The basket holds melons, grapes, kiwis and dates.")),
    (object_of(firstName=TEXT, lastName=TEXT, isMember={"type": "boolean"}), (
        "Ada Lovelace is a member.",
        "Boris Petrov is not a member.",
        "Our member is called Zoe Young.")),
)  # fmt: skip


def ask_keys(schema: dict[str, Any]) -> str:
    """The request for an object with the keys of a schema.

    >>> ask_keys(object_of(a=TEXT, b=TEXT))
    'Answer only with a JSON object with the keys a, b.'
    """
    return f"Answer only with a JSON object with the keys {', '.join(schema['properties'])}."


def fixed(count: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """A fact, its request, and the schema."""
    listed = [(fact, ask_keys(schema), schema) for schema, facts in FIXED for fact in facts]
    yield from listed[:: max(1, len(listed) // count)][:count]


RECORDS = {
    "dates": (dates, DATES),
    "labels": (sentences, SENTIMENT),
    "sums-one": (partial(problems, kinds=ONE_STEP), SUMS),
    "sums": (partial(problems, kinds=PROBLEMS), SUMS),
    "blanks": (people, BLANKS),
    "orders": (orders, ORDERS),
    "json": (people, PEOPLE),
}


if __name__ == "__main__":
    for name, (cases, ways) in RECORDS.items():
        print(f"\n{name}: {len(ways)} ways", *(f"  {way}: {asked.words}" for way, asked in ways.items()), sep="\n")
        for case in cases(3):
            print("   ", case.fact, "->", json.dumps(case.right))
