# question: How does a JSON Schema become a machine, and what does it not guarantee?

# %% [markdown]
# # Lab 06 · JSON Schema
#
# **Question.** A program needs JSON with certain keys. How does its schema become a machine, and what does the machine
# not guarantee?
#
# **Goal.** You compile a schema to a regex. You can say what the order of the keys costs, how an engine counts long
# texts, what it ignores, and why valid output can be false.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 05](05_machine_times_vocabulary.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **JSON Schema** | a description of JSON values, itself written in JSON: which keys, which values |
# | **keyword** | a key that JSON Schema defines, such as `type` or `maximum` |
# | **annotation** | a keyword that describes and does not constrain, such as `title` |
# | **validator** | a program that decides whether a JSON value fits a schema; here the package `jsonschema` |
# | **Pydantic model** | a Python class that describes a record; Pydantic writes its JSON Schema |
# | **counter** | a number beside the state of a machine: how often a part was repeated so far |

# %%
import json
import re
import warnings

import jsonschema
import numpy as np
import pydantic

import guidedviz as gv

LEAVES = {kind: gv.machines.schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}
gv.views.draw_loop("schema")

# %% [markdown]
# ## 1 · From a schema to a machine
#
# A schema says which keys an object has and which values they may have. If the values have a bounded depth, a regex can
# say the same. Here is a small schema and its regex:

# %%
flag = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
print(gv.machines.schema_regex(flag))
gv.draw_machine(gv.json_schema(flag), title="one key", folded=True)

# %% [markdown]
# The rest of the way is labs 04 and 05: regex, NFA, DFA, minimal machine, index. The picture is *folded*: a thick arrow
# stands for several bytes without a choice, so that the key can be read.
#
# Few people write schemas by hand. In Python one writes a class, and Pydantic writes the schema:

# %%
class Person(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(ge=0, le=120)
    city: str


class Guest(pydantic.BaseModel):
    name: str
    city: str = "Oslo"


person = Person.model_json_schema()
print(json.dumps(person))

# %%
machine = gv.json_schema(Person)
gv.draw_machine(machine, title="a person", folded=True)

# %% [markdown]
# Follow the thick arrows: three keys, in the order of the class. `any but " ctrl …` is a loop over the characters of a
# string. It has 12 states inside, for escapes and for characters of several bytes. The numbers up to 120 stand between
# `age` and `city`. Each `title` is an annotation.

# %% [question]
gv.predict(
    "`Guest` gives the city a default. What does the default change in the machine?",
    choices=["nothing", "the key `city` may be missing", "`city` must be Oslo"],
    answer="the key `city` may be missing",
    reveal=[
        lambda: gv.views.draw_verdicts(
            gv.json_schema(Guest), ['{"name": "Ida"}', '{"name": "Ida", "city": "Rome"}', '{"city": "Rome"}']
        ),
        """A field with a default is not in `required`, so its key may be missing. The default itself is an annotation.
        The mask does not write it. Pydantic fills it in when it reads the JSON.""",
    ],
)

# %% [markdown]
# Now the model. `people` holds the facts of ten prompts. The stage shows the first one, after `42`.

# %%
people = [("Tamsin Okoro", 42, "Varnhem"), ("Maria Cohen", 35, "Prague"), ("Jonas Weber", 8, "Lyon")]
people += [("Ida Brook", 61, "Oslo"), ("Zoe Marin", 27, "Kyoto"), ("Omar Haddad", 54, "Dakar")]
people += [("Priya Nagy", 19, "Lima"), ("Lars Quill", 70, "Hollum"), ("Ana Sousa", 33, "Porto")]
people += [("Ben Carter", 12, "Leeds")]


def ask(name, age, city, keys="name, age, city"):
    return f"Hi! {name} is {age} years old and lives in {city}.\nJSON with {keys}:\n"


clerk = gv.load_model("clerk")
guide = gv.guide(machine, clerk.vocabulary)
gv.stage(clerk, ask(*people[0]), guide, constraint="a person", show=17)

# %% [markdown]
# Step back to the start. There Z is 0.58: the model often begins with *Sure*, *Here* or *Of* (course). Watch the number
# of legal tokens. It is 2 at the start and 3,959 inside the name. After `42` it is 1, the comma, because a third digit
# would give more than 120.

# %% [markdown]
# ## Exercise 1 · A compiler for schemas ★★
#
# Write `schema_to_regex(schema)`. `LEAVES` has the regex of a string, an integer and a boolean. An `enum` allows the
# values of a list. An `object` has all its `properties`, in order. Spell everything as `json.dumps` does, with a space
# after each `:` and `,`. One property `ok`, a boolean, gives `\{"ok": (true|false)\}`.
#
# hint: Join the values of an enum with `|`. An object is `\{`, its members, `\}`. The function calls itself for each
# value.
#
# hint: One member is `re.escape(json.dumps(key)) + ": (" + schema_to_regex(value) + ")"`. The parentheses are for a
# value with `|`. A value of an enum is `re.escape(json.dumps(value))`.

# %%
def schema_to_regex(schema):
    # solution:
    if schema.get("type") in LEAVES:
        return LEAVES[schema["type"]]
    if "enum" in schema:
        return "|".join(re.escape(json.dumps(value)) for value in schema["enum"])
    pairs = schema["properties"].items()
    members = [re.escape(json.dumps(key)) + f": ({schema_to_regex(value)})" for key, value in pairs]
    return r"\{" + ", ".join(members) + r"\}"
    # open:
    # ...  # a type in LEAVES, an enum, an object
    # end


gv.checks.schema_to_regex(schema_to_regex)

# %% [markdown]
# Your regex guides the model. (While the exercise is open, another one does.)

# %%
pet = {"type": "object", "properties": {"name": {"type": "string"}, "kind": {"enum": ["cat", "dog"]}}}
compiled = gv.regex(schema_to_regex(pet) or r'\{"name": "[^"]*", "kind": "(cat|dog)"\}')
print(gv.record(clerk, "Hi! Rex is a dog.\nJSON with name, kind:\n", gv.guide(compiled, clerk.vocabulary), seed=1).text)

# %% [markdown]
# ## 2 · Numbers and lengths become states
#
# A machine reads digits and knows no numbers. So the range from 0 to 120 must become a pattern of digits:
# `0|[1-9][0-9]?|1[01][0-9]|120`.

# %% [markdown]
# ## Exercise 2 · At most n ★★
#
# Write `at_most(n)`: a regex for the whole numbers from 0 to `n`, without leading zeros. The regex may grow with the
# number of digits, but not with `n`: the check tries two billion.
#
# hint: A number below `n` has fewer digits, or it agrees with `n` up to some digit and is smaller there. Join the
# cases with `|`.
#
# hint: At place `i` write `digits[:i]`, a class such as `[0-6]` for the smaller digits, and one `[0-9]` per digit that
# is left. If `n` has several digits, the class at place 0 begins with 1. Fewer digits are `0|[1-9][0-9]{0,k}`. The
# last part is `n`.

# %%
def at_most(n):
    # solution:
    digits = str(n)
    parts = [f"0|[1-9][0-9]{{0,{len(digits) - 2}}}"] if n > 9 else []
    for place, digit in enumerate(digits):
        low = 1 if n > 9 and place == 0 else 0
        if int(digit) > low:
            parts.append(f"{digits[:place]}[{low}-{int(digit) - 1}]" + "[0-9]" * (len(digits) - place - 1))
    return "|".join([*parts, digits])
    # open:
    # digits, parts = str(n), []  # the parts are joined with |
    # for place, digit in enumerate(digits):
    #     low = 1 if n > 9 and place == 0 else 0
    #     ...  # append the numbers that agree with n before this place and are smaller at it
    # # then the numbers with fewer digits, and n itself
    # end


gv.checks.at_most(at_most)

# %% [markdown]
# A length is a number too. `maxLength: 10` allows at most ten characters. The simple way is ten copies of the machine
# for one character:

# %%
def text_up_to(length):
    return gv.json_schema({"type": "string", "maxLength": length})


short = person | {"properties": person["properties"] | {"name": {"type": "string", "maxLength": 8}}}
for length in (10, 20, 40):
    print(length, text_up_to(length))

# %% [question]
gv.predict(
    "That makes 20 states per character. How large is the machine for `maxLength: 1000`?",
    choices=["about 20,000 states", "about 1,000 states", "fewer than 100 states"],
    answer="fewer than 100 states",
    reveal=[
        lambda: print(text_up_to(100), text_up_to(1000), text_up_to(100_000)),
        """Copies would take 20,003 states. Instead the machine has one copy, of 25 nodes, and a counter, for any
        length. (`PDA` is the kind of machine of lab 07.)""",
    ],
)

# %% [markdown]
# The picture shows the counter after three letters. The machine read the lower box three times, so the counter is 3.
# Machines with such boxes are the subject of lab 07.

# %%
gv.draw_machine(gv.regex("[a-z]{0,5000}"), b"abc", title="[a-z]{0,5000} after abc")

# %% [markdown]
# **What breaks.** A limit that is too small for the facts. The schema `short` allows a name of 8 characters.

# %% [question]
gv.predict(
    "The name `Tamsin Okoro` has 12 characters. What does the model write under the schema `short`?",
    choices=["`Tamsin`", "`Tamsin O`", "an empty name", "nothing: no token is legal"],
    answer="`Tamsin O`",
    reveal=[
        lambda: print(gv.record(clerk, ask(*people[0]), gv.guide(gv.json_schema(short), clerk.vocabulary)).text),
        """It fits the schema, and the name is cut. The model does not know the limit: after 8 characters, the mask
        allows nothing but the closing quote. A limit stops endless output. It does not ask for a short text.""",
    ],
)

# %% [markdown]
# ## 3 · The order of the keys
#
# A JSON object has no order, and a validator accepts any. A machine for every order has to remember which keys it has
# read: ten keys have 1,024 sets. So most engines write the keys in the order of `properties`.

# %%
def reorder(*keys):
    return person | {"properties": {key: person["properties"][key] for key in keys}}


age_first = gv.guide(gv.json_schema(reorder("age", "name", "city")), clerk.vocabulary)
city_first = gv.guide(gv.json_schema(reorder("city", "age", "name")), clerk.vocabulary)
swapped = gv.record(clerk, ask(*people[2]), age_first, temperature=0)
gv.draw_strip(swapped, mass=True)

# %% [markdown]
# The number below a token is the Z of its step. The model follows the order in the prompt: at `age` it wanted `name`,
# and at `city` it wanted `age` a second time. The mask forbade both. The values are right here. Did it do any harm? We
# measure how probable the right record is, on average over the ten people.

# %%
known = gv.decoding.remember(clerk)  # it reads equal texts once


def right_record(guide, facts, **keys):
    """The probability of the likeliest record under the mask; 0 if a value is wrong."""
    run = gv.record(known, ask(*facts, **keys), guide, temperature=0)
    right = json.loads(run.text) == dict(zip(("name", "age", "city"), facts, strict=True))
    return right * np.prod([step.raw / step.mass for step in run.steps])


def average(guide, **keys):
    return float(np.mean([right_record(guide, facts, **keys) for facts in people]))


print(f"name, age, city: {average(guide):.2f}")

# %% [question]
gv.predict(
    "The prompt still says `name, age, city`. The schema says age, name, city. How probable is the right record now?",
    number=lambda: round(average(age_first), 2),
    within=0.08,
    reveal=[
        lambda: print(f"prompt as before     {average(age_first):.2f}"),
        lambda: print(f"prompt in its order  {average(age_first, keys='age, name, city'):.2f}"),
        """The mask allows all the right values, and still they become less probable: the model would not have begun
        the text in this order. If the prompt names the keys in the order of the schema, most of the loss is gone.

        Not every order costs something. With the schema city, age, name and the prompt as before:""",
        lambda: print(f"{average(city_first):.2f}"),
    ],
)

# %% [markdown]
# So measure your own order. One rule is general: a value can use only what was written before it. If a model should
# reason first, the reasons must be the first key.

# %% [markdown]
# ## 4 · What is enforced, and what is not
#
# JSON Schema has many keywords, and no machine of these labs can enforce all of them. `tell` shows what our compiler
# says about a keyword that JSON Schema does not have, and about one that it cannot enforce:

# %%
def tell(schema):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            print("notes:", *gv.json_schema(schema).notes)
        except gv.PatternError as error:
            print("error:", error)
    print("warnings:", len(warned))


typo = {"type": "object", "propertes": {"age": {"type": "integer"}}}
tell({"type": "integer", "maximum": 9, "x-unit": "metres"})
tell({"type": "array", "items": {"type": "number"}, "uniqueItems": True})

# %% [markdown]
# `x-unit` counts as an annotation: it is ignored and listed in `machine.notes`. `uniqueItems` constrains, and a machine
# cannot compare an item with all items before it. So the schema is refused. The file `assets/schemas.md` has every such
# case.
#
# Not every engine refuses. outlines-core 0.2.14 ignores `maximum` without a message: there `{"age": 999}` is legal.

# %% [question]
gv.predict(
    'A keyword is mistyped: `{"type": "object", "propertes": {"age": {"type": "integer"}}}`. '
    'What does the package `jsonschema` say about the value `{"age": "old"}`?',
    choices=["the schema is wrong", "it fits", "it does not fit"],
    answer="it fits",
    reveal=[
        lambda: print(jsonschema.Draft202012Validator(typo).is_valid({"age": "old"})),
        lambda: tell(typo),
        """By the standard `propertes` is an annotation, so every object fits. Our compiler warns, because the word is
        close to a keyword. With `unknown="error"` it refuses the schema.""",
    ],
)

# %% [markdown]
# A validator ignores white space, and it allows other keys unless `additionalProperties` forbids them. A machine must
# choose what it writes. Here are our options, and below them the validator:

# %%
one = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
texts = ['{"age":42}', '{"age": 42}', '{ "age" : 42 }', '{"age": 42, "pets": 3}']
print(f"{'':27}", *texts, sep="   ")
settings = [{"whitespace": way} for way in ("space", "one", "compact", "any")] + [{"extra_keys": "open"}]
judges = {str(setting): gv.json_schema(one, **setting).accepts for setting in settings}
judges["jsonschema"] = lambda text: jsonschema.Draft202012Validator(one).is_valid(json.loads(text))
for name, judge in judges.items():
    print(f"{name:27}", *(f"{'yes' if judge(text.encode()) else 'no':{len(text)}}" for text in texts), sep="   ")

# %% [markdown]
# Our default is one optional space and no other keys (`extra_keys="closed"`). XGrammar's default is any white space and
# no other keys. llguidance follows the standard in both.

# %% [markdown]
# ## 5 · Valid is not true
#
# The ten prompts, first free, then guided, with the same seeds. The validator decides whether an output fits. It shares
# no code with our machines.

# %%
def fits(output):
    try:
        return jsonschema.Draft202012Validator(person).is_valid(json.loads(output))
    except ValueError:  # not JSON
        return False


def write_all(how):
    return [gv.record(known, ask(*facts), how, seed=seed).text for seed, facts in enumerate(people)]


free, guided = write_all(None), write_all(guide)
pairs = zip(guided, people, strict=True)
wrong = [f"{text!a}  but it was {facts}" for text, facts in pairs if (*json.loads(text).values(),) != facts]
nowhere = "Hi! Maria Cohen is 35 years old.\nJSON with name, age, city:\n"


# %% [question]
gv.predict(
    "How many of the ten free outputs fit?",
    number=lambda: sum(map(fits, free)),
    within=2,
    reveal=lambda: print("free", sum(map(fits, free)), "of 10, guided", sum(map(fits, guided)), "of 10"),
)

# %% [question]
gv.predict(
    "All ten guided outputs fit. In how many are all three values right?",
    number=lambda: len(people) - len(wrong),
    within=1,
    reveal=[
        lambda: print(*wrong, sep="\n"),
        "These two fit the schema, and their names are wrong. The mask guarantees the form, not the truth.",
    ],
)

# %% [question]
gv.predict(
    "The sentence `Hi! Maria Cohen is 35 years old.` names no city, and the schema requires one. What is written?",
    choices=["an empty string", "an invented city", "nothing: the run cannot end"],
    answer="an invented city",
    reveal=[
        lambda: print(gv.record(clerk, nowhere, guide, temperature=0).text),
        """A required key forces an answer. Where a fact may be missing, allow `null` or a missing key. Then a model can
        say so. `clerk` never learned this: it invents a city even then.""",
    ],
)

# %% [markdown]
# **What breaks.** The guarantee holds for runs that end. A limit on tokens can cut a run in the middle:

# %%
cut = gv.record(clerk, ask(*people[0]), guide, max_tokens=12).text
print(cut, fits(cut))

# %% [markdown]
# SmolLM2 read 30 orders such as *Marco Dubois from Dakar orders 14 lamps*, with at most 120 tokens for the answer. The
# schema asks for a customer and a list of items, each with a product and a count.

# %%
orders = gv.decoding.Rates.load("smollm2/orders")
print(orders)

# %% [question]
gv.predict(
    "All 30 answers were masked with the schema. How many of them parse?",
    choices=["all 30: that is the guarantee", "about 20", "4"],
    answer="4",
    reveal=[
        lambda: [print(f"{share}  {way}") for way, share in orders.shares("parses").items()],
        """The list has no upper bound, so one more item is always legal, and the model likes to go on: 26 runs were cut
        at 120 tokens. With `"maxItems": 3` all 30 parse. In 20 the customer is right, and in none are the items: a
        model of this size cannot do it, and no schema changes that.""",
    ],
)

# %% [markdown]
# Last, a schema without a bound on the depth. `{"$ref": "#"}` stands for the whole schema, so friends have friends:

# %%
friends = {"type": "array", "items": {"$ref": "#"}}
nested = {"type": "object", "properties": {"name": {"type": "string"}, "friends": friends}, "required": ["name"]}
print(gv.json_schema(nested))
try:
    gv.machines.schema_regex(nested)
except gv.PatternError as error:
    print(error)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "Schema-valid means correct." | Ten of ten guided outputs fit the schema. Fewer are true. | 5 |
# | "A schema lists all keys that are allowed." | `{"age": 42, "pets": 3}` fits: by default others are too. | 4 |
# | "Engines implement the standard." | Ours refuses the schemas of 89 of its 1,299 test cases. | 4 |

# %% [markdown]
# ## Recap
#
# * A schema of bounded depth becomes a regex: keys become bytes in a row, ranges become patterns of digits.
# * Large counts become a counter beside the state, not copies.
# * The keys come in the order of `properties`. Name them in that order in the prompt.
# * A keyword is enforced, listed in `machine.notes`, or refused. Some engines ignore keywords without a message.
# * The mask guarantees the form of a run that ends. It does not guarantee the truth.

# %% [markdown]
# Next: friends of friends of friends have no regex. They need a machine with a **stack**: [lab 07](07_pda.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **llguidance**: its [page on JSON Schema](https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md)
#   lists what it enforces. For the rest it aims to give an error. It keeps the order of `properties`; in
#   [issue 162](https://github.com/guidance-ai/llguidance/issues/162) a user found the keys sorted.
# * **XGrammar**: [`from_json_schema`](https://github.com/mlc-ai/xgrammar/blob/main/python/xgrammar/grammar.py) has
#   `any_whitespace`, `strict_mode` and `any_order`. Version 2 counts repeats
#   ([arXiv 2601.04426](https://arxiv.org/abs/2601.04426)).
# * **outlines-core** ignores bounds of numbers ([issue 147](https://github.com/dottxt-ai/outlines-core/issues/147)).
#   [Pull request 260](https://github.com/dottxt-ai/outlines-core/pull/260) of 2026 turns them into an error.
# * **llama.cpp** fixes the order of the keys. [Issue 15216](https://github.com/ggml-org/llama.cpp/issues/15216) shows
#   the trouble when the model prefers another one.

# %% [markdown]
# ## Further reading
#
# * [A tour of JSON Schema](https://tour.json-schema.org/content/03-Objects/02-Additional-Properties): short lessons
#   with an editor. This one is about keys that a schema does not name.
# * [JSONSchemaBench](https://arxiv.org/abs/2501.10868): 10,000 schemas from real projects, and how many of them each
#   engine supports.
# * [Comparing the quality of structured generation
#   engines](https://blog.dottxt.ai/comparing-the-quality-of-structured-generation-engines.html): why masks should be
#   compared, not only outputs. By the makers of one engine.

# %% [markdown]
# ## A puzzle
#
# Write the regex of an object with three keys in a fixed order. Each key may be missing. Commas stand only between
# members. How long is your regex for n keys?
#
# hint: Choose the first member that is present. After it, each later member is optional and brings its own comma.
#
# hint: For keys a, b, c: `\{(a(, b)?(, c)?|b(, c)?|c)?\}`. There is one branch per first key, so n keys take n(n+1)/2
# members. The minimal machine merges the equal ends of the branches.
