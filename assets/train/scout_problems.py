"""Questions of `scout`'s small world, with the thoughts, the calls and the results that lead to the answer.

What a look-up or the weather gives is drawn anew each time, so that nothing can be learned by heart. Sums without a
tool are of two digits each, and are thought digit by digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

import words as w


@dataclass(frozen=True)
class Call:
    """A call of a tool of some kind, and what it returns."""

    kind: str
    values: tuple[int | str, ...]
    result: str


@dataclass(frozen=True)
class Round:
    """What is thought, and the calls that follow."""

    thought: str
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Problem:
    """A question, the rounds of calls, the last thought, and the answer with the words that must be in it."""

    family: str
    question: str
    rounds: tuple[Round, ...]
    thought: str
    answer: str
    key: tuple[str, ...]

    @property
    def kinds(self) -> list[str]:
        """The kinds of tools that it needs, each once."""
        return list(dict.fromkeys(call.kind for one in self.rounds for call in one.calls))


def number(r: Random) -> int:
    return r.choice([r.randint(2, 99), r.randint(10, 999)])


def said(r: Random, value: int) -> str:
    """A number in digits, or once in five in words."""
    return w.spell(value) if r.random() < 0.2 else str(value)


def digit_thought(a: int, b: int) -> str:
    """A sum digit by digit, from the right.

    >>> digit_thought(47, 85), digit_thought(347, 85)
    ('7 + 5 = 12, 4 + 8 + 1 = 13.', '7 + 5 = 12, 4 + 8 + 1 = 13, 3 + 1 = 4.')
    """
    lines = []
    carry = 0
    while a or b:
        parts = [part % 10 for part, whole in ((a, a), (b, b)) if whole]
        if carry:
            parts.append(carry)
        total = sum(parts)
        if len(parts) == 1:
            lines.append(str(total))
        else:
            lines.append(f"{' + '.join(map(str, parts))} = {total}")
        carry = total // 10
        a //= 10
        b //= 10
    return ", ".join(lines) + "."


def sum_question(r: Random, a: int, b: int) -> tuple[str, str]:
    """A question for a sum, and the answer."""
    x = said(r, a)
    y = said(r, b)
    name = w.first(r)
    things = w.plural(r.choice(w.THING))
    return r.choice(
        [
            (f"What is {x} plus {y}?", f"{a} plus {b} is {a + b}."),
            (f"What is the sum of {x} and {y}?", f"The sum of {a} and {b} is {a + b}."),
            (f"Add {x} and {y}.", f"The sum of {a} and {b} is {a + b}."),
            (
                f"{name} has {x} {things} and {r.choice(['buys', 'finds', 'gets'])} {y} more. How many are there now?",
                f"{name} has {a + b} {things} now.",
            ),
        ]
    )


def add(r: Random) -> Problem:
    a = number(r)
    b = number(r)
    question, answer = sum_question(r, a, b)
    call = Call("add", (a, b), str(a + b))
    return Problem("sum", question, (Round(f"The sum {a} + {b}.", (call,)),), told([call]), answer, (str(a + b),))


def add_alone(r: Random) -> Problem:
    """A sum without a tool: it is worked out digit by digit, if the model thinks."""
    a = r.randint(10, 99)
    b = r.randint(10, 99)
    question, answer = sum_question(r, a, b)
    return Problem("sum alone", question, (), f"The sum {a} + {b}.\n{digit_thought(a, b)}", answer, (str(a + b),))


def subtract(r: Random) -> Problem:
    b, a = sorted((number(r), number(r)))
    x = said(r, a)
    y = said(r, b)
    name = w.first(r)
    things = w.plural(r.choice(w.THING))
    verb = r.choice(["sells", "loses", "gives away"])
    question, answer = r.choice(
        [
            (f"What is {x} minus {y}?", f"{a} minus {b} is {a - b}."),
            (f"Subtract {y} from {x}.", f"{a} minus {b} is {a - b}."),
            (f"{name} has {x} {things} and {verb} {y}. How many are left?", f"{name} has {a - b} {things} left."),
        ]
    )
    call = Call("subtract", (a, b), str(a - b))
    round_ = Round(f"The difference {a} - {b}.", (call,))
    return Problem("difference", question, (round_,), told([call]), answer, (str(a - b),))


def table_value(r: Random, table: str) -> str:
    return r.choice(w.COLOR) if table == "color" else str(number(r))


TABLES = ("price", "stock", "weight", "color")


def table_question(r: Random, table: str, thing: str) -> str:
    """A question whose answer is in a table."""
    asked = {
        "price": f"How much does the {thing} cost?",
        "stock": f"How many {w.plural(thing)} are in stock?",
        "weight": f"How much does the {thing} weigh?",
        "color": f"Which color has the {thing}?",
    }
    return r.choice([f"What is the {table} of the {thing}?", asked[table]])


def look_up(r: Random) -> Problem:
    table = r.choice(TABLES)
    thing = w.thing(r)
    call = Call("lookup", (table, thing), table_value(r, table))
    round_ = Round(f"The {table} of the {thing}.", (call,))
    answer = f"The {table} of the {thing} is {call.result}."
    return Problem("look-up", table_question(r, table, thing), (round_,), told([call]), answer, (call.result,))


def look_up_two(r: Random) -> Problem:
    table = r.choice(TABLES)
    one, other = r.sample(w.THING, 2)
    calls = tuple(Call("lookup", (table, thing), table_value(r, table)) for thing in (one, other))
    question = f"What is the {table} of the {one} and of the {other}?"
    answer = f"The {table} of the {one} is {calls[0].result}, of the {other} {calls[1].result}."
    return two_at_once(question, Round(f"The {table} of the {one} and the {other}: two calls.", calls), answer)


def two_at_once(question: str, round_: Round, answer: str) -> Problem:
    """A problem whose calls stand side by side; the answer needs all their results."""
    key = tuple(call.result for call in round_.calls)
    return Problem("two at once", question, (round_,), told(round_.calls), answer, key)


def weather(r: Random) -> Problem:
    city = w.city(r)
    call = Call("weather", (city,), weather_value(r))
    question = r.choice(
        [f"What is the weather in {city}?", f"How is the weather in {city}?", f"Tell me the weather in {city}."]
    )
    round_ = Round(f"The weather in {city}.", (call,))
    answer = f"The weather in {city}: {call.result}."
    return Problem("weather", question, (round_,), told([call]), answer, (call.result,))


def weather_value(r: Random) -> str:
    return f"{r.choice(['rain', 'sun', 'snow', 'wind', 'fog', 'clouds'])}, {r.randint(1, 39)} degrees"


def weather_two(r: Random) -> Problem:
    cities = r.sample(w.CITY, 2)
    calls = tuple(Call("weather", (city,), weather_value(r)) for city in cities)
    question = f"What is the weather in {cities[0]} and in {cities[1]}?"
    answer = f"The weather in {cities[0]}: {calls[0].result}. In {cities[1]}: {calls[1].result}."
    return two_at_once(question, Round(f"The weather in {cities[0]} and {cities[1]}: two calls.", calls), answer)


def written(day: date) -> str:
    return f"{day.day} {w.MONTH[day.month - 1]} {day.year}"


def days(r: Random) -> Problem:
    start = date(2020, 1, 1) + timedelta(days=r.randrange(3650))
    count = r.randint(2, 400)
    end = start + timedelta(days=count)
    one = written(start)
    other = written(end)
    question = r.choice(
        [f"How many days are there from {one} to {other}?", f"Count the days between {one} and {other}."]
    )
    call = Call("days", (start.isoformat(), end.isoformat()), str(count))
    round_ = Round(f"The days from {start} to {end}.", (call,))
    answer = f"There are {count} days from {one} to {other}."
    return Problem("days", question, (round_,), told([call]), answer, (str(count),))


def chain_plus(r: Random) -> Problem:
    """A look-up, then a sum with what it gave."""
    table = r.choice(TABLES[:3])
    thing = w.thing(r)
    first = Call("lookup", (table, thing), str(number(r)))
    more = number(r)
    second = Call("add", (int(first.result), more), str(int(first.result) + more))
    rounds = (
        Round(f"First the {table} of the {thing}, then + {more}.", (first,)),
        Round(f"{told([first])} Now {first.result} + {more}.", (second,)),
    )
    question = f"What is the {table} of the {thing} plus {more}?"
    answer = f"The {table} of the {thing} plus {more} is {second.result}."
    return Problem("two in a row", question, rounds, told([second]), answer, (second.result,))


def chain_together(r: Random) -> Problem:
    """Two look-ups at once, then their sum or difference."""
    table = r.choice(TABLES[:3])
    one, other = r.sample(w.THING, 2)
    larger = r.random() < 0.4
    low, high = sorted((number(r), number(r)))
    pair = (high, low) if larger else r.choice([(low, high), (high, low)])
    calls = tuple(Call("lookup", (table, thing), str(value)) for thing, value in zip((one, other), pair, strict=True))
    if larger:
        last = Call("subtract", pair, str(pair[0] - pair[1]))
        question = f"What is the {table} of the {one} minus the {table} of the {other}?"
        sign, answer = "-", f"The difference of the {table} is {last.result}."
    else:
        last = Call("add", pair, str(sum(pair)))
        question = f"What is the {table} of the {one} and the {other} together?"
        sign, answer = "+", f"Together the {table} is {last.result}."
    rounds = (
        Round(f"First the {table} of the {one} and the {other}: two calls.", calls),
        Round(f"{told(calls)} Now {pair[0]} {sign} {pair[1]}.", (last,)),
    )
    return Problem("two in a row", question, rounds, told([last]), answer, (last.result,))


def told(calls: Sequence[Call]) -> str:
    """What is thought when the results are there."""
    if len(calls) == 1:
        return f"The result is {calls[0].result}."
    return f"The results are {' and '.join(call.result for call in calls)}."


def read_text(r: Random) -> Problem:
    """The answer is in the question."""
    name = w.first(r)
    city = w.city(r)
    job = r.choice(w.JOB)
    text = f"{name} lives in {city} and works as {w.article(job)}."
    question, answer, key = r.choice(
        [
            (f"Where does {name} live?", f"{name} lives in {city}.", city),
            (f"What does {name} work as?", f"{name} works as {w.article(job)}.", job),
        ]
    )
    return Problem("text", f"{text} {question}", (), f"The text says it: {key}.", answer, (key,))


def greet(r: Random) -> Problem:
    name = w.first(r)
    question, answer, key = r.choice(
        [
            ("Who are you?", "I am scout. I think and call tools.", "scout"),
            ("What is your name?", "My name is scout.", "scout"),
            (f"I am {name}. Good morning.", f"Good morning, {name}.", name),
            (f"My name is {name}. What is my name?", f"Your name is {name}.", name),
            (f"Say the word {name.lower()}.", f"{name.lower()}", name.lower()),
        ]
    )
    return Problem("talk", question, (), "No tool is needed.", answer, (key,))


# How often each is drawn; the second course asks more of what the first left weak.
FIRST_COURSE: dict[Callable[[Random], Problem], int] = {
    add: 4,
    add_alone: 7,
    subtract: 3,
    look_up: 4,
    look_up_two: 2,
    weather: 3,
    weather_two: 2,
    days: 3,
    chain_plus: 3,
    chain_together: 3,
    read_text: 2,
    greet: 1,
}
SECOND_COURSE = FIRST_COURSE | {add_alone: 24}
