# question: How does a JSON Schema become a machine, and what does it not guarantee?

# %% [markdown]
# # Lab 06 · JSON Schema
#
# **Question.** A program needs JSON with certain keys. How does its schema become a machine, and what does the machine
# not guarantee?
#
# **Goal.** You compile a schema to a regex. You can say what the order of the keys costs, what an engine ignores, and
# why valid output can be false.
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
# | **enum** | a keyword with a list of values: only these are allowed |

# %% [markdown]
# **Lost?** [Lab 03](03_fsm.ipynb), section 3, has regexes and their machines. [Lab
# 05](05_machine_times_vocabulary.ipynb) says which tokens a state allows. Z, the legal mass, is in the words of [lab
# 02](02_static_masks.ipynb).

# %%
# slide: A schema becomes a regex, and from there on it is the machine of lab 05.
import json
import re
import warnings
from collections import Counter

import jsonschema
import pydantic

import guidedviz as gv
from guidedviz.files import shipped

LEAVES = {kind: gv.machines.schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}
gv.views.draw_loop("schema")

# %% [markdown]
# ## 1 · From a schema to a machine
#
# A schema says which keys an object has and which values they may have. If the nesting has a fixed depth, a regex can
# describe the same texts. Here is a small schema and its regex:

# %%
# slide: One key and a boolean: the thick arrows are bytes without a choice.
flag = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
print(gv.machines.schema_regex(flag))
gv.draw_machine(gv.json_schema(flag), title="one key", folded=True)

# %% [markdown]
# In this regex ` ?` is a space that may be missing, and `(?:…)` groups its parts, as `(…)` does. The rest of the way is
# labs 04 and 05: regex, machine, index. The picture is *folded*: a thick arrow stands for several bytes without a
# choice, so that the key can be read.

# %% [markdown]
# Few people write schemas by hand. In Python one writes a class, and Pydantic writes the schema. Its keyword `required`
# lists the keys that must be present:


# %%
class Person(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(ge=0, le=120)
    city: str


class Guest(pydantic.BaseModel):
    name: str
    city: str = "Oslo"


person, guest = Person.model_json_schema(), Guest.model_json_schema()
for schema in (person, guest):
    print(schema["title"], "· required:", json.dumps(schema["required"]))
    for key, value in schema["properties"].items():
        print("   ", key, json.dumps(value))

# %%
# slide: A person: three keys in a row, a loop for the characters of the name, a branch for the age.
machine = gv.json_schema(Person)
gv.draw_machine(gv.json_schema(Person, whitespace="one"), title="a person, with one space each", folded=True)

# %% [markdown]
# Follow the thick arrows: three keys, in the order of the class. The loop `any but " ctrl …` reads one character of a
# string. The picture shows one loop for 12 states: they read escapes such as `\n` and characters of several bytes. Such
# a character begins with a byte from 0xC2 to 0xF4. The numbers up to 120 stand between `age` and `city`. Each `title`
# is an annotation. (The picture has one space after each colon and comma. `machine` leaves each space optional, so it
# has more arrows.)

# %% [question]
# slide: A default makes the key optional, and nothing else.
gv.predict(
    "In the class `Guest` the city has a default. What does this change in the machine? Compare the two schemas.",
    choices=[
        "nothing: both keys must be written",
        "the key `city` may be missing",
        "where the prompt names no city, the mask forces `Oslo`",
    ],
    answer="the key `city` may be missing",
    reveal=[
        lambda: gv.views.draw_verdicts(
            gv.json_schema(Guest), ['{"name": "Ida"}', '{"name": "Ida", "city": "Rome"}', '{"city": "Rome"}']
        ),
        """A field with a default is not in `required`, so its key may be missing. The keyword `default` itself is an
        annotation, and no mask writes it. If the key is missing, Pydantic fills in `Oslo` when it reads the JSON.""",
    ],
)

# %% [markdown]
# Now the model. `people` holds the facts of ten prompts. The stage shows the first one.

# %%
# slide: The mask of the schema guides the model, and the number of legal tokens goes up and down.
people = [("Tamsin Okoro", 42, "Varnhem"), ("Maria Cohen", 35, "Prague"), ("Jonas Weber", 8, "Lyon")]
people += [("Ida Brook", 61, "Oslo"), ("Zoe Marin", 27, "Kyoto"), ("Omar Haddad", 54, "Dakar")]
people += [("Priya Nagy", 19, "Lima"), ("Lars Quill", 70, "Hollum"), ("Ana Sousa", 33, "Porto")]
people += [("Ben Carter", 12, "Leeds")]


def ask(name, age, city, keys="name, age, city"):
    return f"Hi! {name} is {age} years old and lives in {city}.\nJSON with {keys}:\n"


clerk = gv.load_model("clerk")
guide = gv.guide(machine, clerk.vocabulary)
gv.stage(clerk, ask(*people[0]), guide, constraint="a person", show=0)

# %% [markdown]
# It opens at the start. The mask removes 42%, so Z is 0.58: `clerk` often begins with *Sure*, *Here* or *Of* (course),
# as its training texts do. Step on and watch the number of legal tokens. It is 2 at the start and 3,959 inside the
# name. After `42` it is 1, the comma, because a third digit would give more than 120.

# %% [markdown]
# ## Exercise 1 · A compiler for schemas ★★
#
# Write `schema_to_regex(schema)`. `LEAVES` has the regex of a string, an integer and a boolean. If a schema has both
# `enum` and `type`, the enum alone decides. An `object` has all its `properties`, in order, required or not. Write keys
# and values as `json.dumps` does, with a space after each `:` and `,` between them. A boolean property `ok` gives
# `\{"ok": (true|false)\}`. Any regex for the same texts is right.
#
# hint: Join the values of an enum with `|`. An object is `\{`, members, `\}`.
#
# hint: A member is `re.escape(json.dumps(key)) + ": (" + schema_to_regex(value) + ")"`. Each value of an enum is
# `re.escape(json.dumps(value))`.


# %%
# slide: Exercise 1: write the compiler from schemas to regexes.
def schema_to_regex(schema):
    # solution:
    if "enum" in schema:
        return "|".join(re.escape(json.dumps(value)) for value in schema["enum"])
    if schema["type"] in LEAVES:
        return LEAVES[schema["type"]]
    pairs = schema["properties"].items()
    members = [re.escape(json.dumps(key)) + f": ({schema_to_regex(value)})" for key, value in pairs]
    return r"\{" + ", ".join(members) + r"\}"
    # open:
    # ...  # an enum, a type in LEAVES, an object
    # end


gv.checks.schema_to_regex(schema_to_regex)

# %% [markdown]
# Your regex guides the model, right or wrong. (While `schema_to_regex` is still empty, a regex of ours does.)

# %%
# slide: A schema of two keys, compiled by your function, guides the model.
pet = {"type": "object", "properties": {"name": {"type": "string"}, "kind": {"enum": ["cat", "dog"]}}}
compiled = gv.regex(schema_to_regex(pet) or r'\{"name": "[^"]*", "kind": "(cat|dog)"\}')
print(gv.record(clerk, "Hi! Rex is a dog.\nJSON with name, kind:\n", gv.guide(compiled, clerk.vocabulary), seed=1).text)

# %% [markdown]
# ## 2 · Numbers and lengths
#
# A machine reads digits and knows no numbers. So the range from 0 to 120 must become a pattern of digits:
# `0|[1-9][0-9]?|1[01][0-9]|120`. A length is a number, too. At most three small letters are `[a-z]{0,3}`, and
# `maxLength` becomes such a repetition.

# %% [markdown]
# **What breaks.** A limit that is too small for the facts. The schema `short` allows a name of 8 characters.

# %%
name = {"type": "string", "maxLength": 8}
short = gv.json_schema(person | {"properties": person["properties"] | {"name": name}})

# %% [question]
# slide: A limit that is too small for the facts cuts the name.
gv.predict(
    "The name `Tamsin Okoro` has 12 characters. What does the model write under the schema `short`?",
    choices=["`Tamsin`", "`T. Okoro`", "`Tamsin O`", "nothing: no token is legal after 8 characters"],
    answer="`Tamsin O`",
    reveal=[
        lambda: print(gv.record(clerk, ask(*people[0]), gv.guide(short, clerk.vocabulary)).text),
        """It fits the schema, and the name is cut. `Tamsin` and `T. Okoro` would need a model that knows the limit. It
        sees the text only: it writes as before, and after 8 characters only `"` and `",` are legal. A limit stops
        endless output. It does not ask for a short text.""",
    ],
)

# %% [markdown]
# ## Exercise 2 · At most n ★★ · home
#
# Write `at_most(n)`: a regex for the numbers from 0 to `n`, without leading zeros. Its length may depend on
# the number of digits of `n`, not on `n` itself: the check tries two billion.
#
# hint: A number below `n` has fewer digits, or it agrees with `n` up to some digit and is smaller there.
#
# hint: At place `i` write `digits[:i]`, a class such as `[0-6]` for the smaller digits, and one `[0-9]` per digit that
# is left. If `n` has several digits, the class at place 0 begins with 1. Fewer digits are `0|[1-9][0-9]{0,k}`. The
# last part is `n`.


# %%
# slide: Exercise 2: a machine reads digits, so write a number range as a pattern of digits.
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
# ## 3 · The order of the keys
#
# The keys of a JSON object have no order, so a validator accepts every order. A machine that accepts every order must
# remember the set of keys read so far: ten keys have 1,024 sets. So our compiler writes the keys in the order of
# `properties`, as most engines do. Here the schema says age first, and the prompt still says name first:


# %%
# slide: Below each token stand its step and its Z: where it is small, the mask overruled the model.
def in_order(*keys):
    properties = {key: person["properties"][key] for key in keys}
    return gv.guide(gv.json_schema(person | {"properties": properties}), clerk.vocabulary)


priya = {"name": "Priya Nagy", "age": 19, "city": "Lima"}
known = gv.decoding.remember(clerk)  # the same model, only faster
age_first = in_order("age", "name", "city")
greedy = gv.record(known, ask(**priya), age_first, temperature=0)
gv.draw_strip(greedy, mass=True)

# %% [markdown]
# Below each token stand its step and the Z of this step. Where was the model overruled, and what did it want there?

# %%
for step in greedy.steps:
    likeliest = step.candidates[0]
    if not likeliest.legal:
        print(f"wanted {likeliest.piece.decode()!r:10} {likeliest.raw:.2f}, wrote {step.piece.decode()!r}")

# %% [markdown]
# The model follows the order in the prompt: it wanted `name` first, and it wanted to end the object after the name,
# with `"}`. It had to write `"` instead. Then it wanted `<|end|>`, as if the object were complete.
#
# This record is right. But it was made greedily: always with the likeliest legal token. Now we draw the tokens, at
# temperature 1: 50 records with each of three orders. The prompt stays the same.


# %%
# slide: With the age first, 36 of 50 records are right instead of 50.
def draw_50(guide, keys="name, age, city"):
    seeds = range(710, 760)  # they draw the same on every processor
    texts = [gv.record(known, ask(**priya, keys=keys), guide, seed=seed).text for seed in seeds]
    return [json.loads(text) for text in texts]


drawn = draw_50(age_first)
print("name, age, city:", draw_50(guide).count(priya), "of 50 are right")
print("age, name, city:", drawn.count(priya), "of 50 are right")
print("city, age, name:", draw_50(in_order("city", "age", "name")).count(priya), "of 50 are right")

# %% [question]
# slide: The mask did harm where many tokens were legal, not where Z was smallest.
gv.predict(
    "Age, name, city: only the order of the schema changed. At which token do the wrong records go wrong?",
    choices=[
        "at `age`, where Z is 1 in 26,000",
        "at `19`: the name is not written yet",
        "at the end of the name, where Z is 0.11",
        "at the comma after the name, where Z is 1 in 10⁷",
    ],
    answer="at the end of the name, where Z is 0.11",
    reveal=[
        """At `age` only `a`, `ag` and `age` are legal, and at the comma one token. There nothing can go wrong, however
        small Z is. After the name 3,959 tokens are legal. The model wanted `"}`, which is forbidden. These are the
        likeliest legal tokens, with their probability after the mask:""",
        lambda: print(
            *(f"{one.piece.decode()!r} {one.masked:.2f}" for one in greedy.steps[13].candidates if one.legal), sep="   "
        ),
        """`"` and `",` end the name rightly: 0.39 and 0.29. The rest, about a third, makes the name longer. The names
        in the 50 records:""",
        lambda: print(*(f"{n} × {name}" for name, n in Counter(one["name"] for one in drawn).items()), sep="   "),
        "If the prompt names the keys in the order of the schema, the loss is gone:",
        lambda: print("in the prompt too:", draw_50(age_first, "age, name, city").count(priya), "of 50 are right"),
    ],
)

# %% [markdown]
# With the city first, 48 of 50 are right: not every order harms. Over all ten people of section 1 the loss is smaller.
# With the name first, a drawn record is right with a probability of 0.82, and with the age first of 0.76 (RECORDED
# 2026-11-28).
#
# So measure your own order. One rule holds for every schema: a model sees only what stands before a value. If it should
# reason first, the reasons must be the first key.

# %% [markdown]
# ## 4 · What is enforced, and what is not
#
# JSON Schema has many keywords, and our compiler cannot enforce all of them. `tell` shows what it says about a key that
# is no keyword, `x-unit`, and about a keyword that it cannot enforce, `uniqueItems`:


# %%
# slide: What a machine cannot enforce it must refuse, not ignore.
def tell(schema):
    with warnings.catch_warnings(record=True, action="always") as warned:
        try:
            print("notes:", *gv.json_schema(schema).notes)
        except gv.PatternError as error:
            print("error:", error)
    for one in warned:
        print("warning:", one.message)


tell({"type": "integer", "maximum": 9, "x-unit": "metres"})
tell({"type": "array", "items": {"type": "number"}, "uniqueItems": True})

# %% [markdown]
# `x-unit` counts as an annotation: it is ignored and listed in `machine.notes`. `uniqueItems` is a constraint, but a
# machine cannot compare an item with all items before it, unless an `enum` leaves only a few values. So this schema is
# refused.
#
# Not every engine refuses. outlines-core 0.2.14 ignores `maximum` without a message, so `{"age": 999}` is legal
# ([issue 147](https://github.com/dottxt-ai/outlines-core/issues/147)).

# %%
typo = {"type": "object", "propertes": {"age": {"type": "integer"}}}

# %% [question]
# slide: By the standard a mistyped keyword says nothing, so every object fits.
gv.predict(
    "In the schema `typo` above, the keyword `properties` is mistyped. What does the package `jsonschema` say about "
    'the value `{"age": "old"}`?',
    choices=["an error: `propertes` is no keyword", "it does not fit: the age is a text", "it fits"],
    answer="it fits",
    reveal=[
        lambda: print(jsonschema.Draft202012Validator(typo).is_valid({"age": "old"})),
        lambda: tell(typo),
        """By the standard an unknown key is an annotation, so `propertes` says nothing and every object fits. Our
        compiler warns, because the word is close to a keyword. With `unknown="error"` it refuses the schema.""",
    ],
)

# %% [markdown]
# ## 5 · Valid is not true
#
# The ten prompts again, under the schema. The validator, which shares no code with our machines, decides whether an
# output fits.


# %%
# slide: All ten outputs fit the schema, and two of the names are wrong.
def fits(output):
    try:
        return jsonschema.Draft202012Validator(person).is_valid(json.loads(output))
    except ValueError:  # not JSON
        return False


texts = [gv.record(known, ask(*facts), guide, seed=seed).text for seed, facts in enumerate(people)]
print("fit the schema:", sum(map(fits, texts)), "of", len(texts))
for text, facts in zip(texts, people, strict=True):
    if tuple(json.loads(text).values()) != facts:
        print(text, "  but it was", *facts)

# %% [markdown]
# All ten fit, and two names are wrong. The mask guarantees the form, not the truth. One name has a Korean character in
# it (an empty box, if your computer has no sign for it). `clerk` has a token for each byte, and it drew the three bytes
# of this character. In a string each of them is legal.

# %%
nowhere = "Hi! Maria Cohen is 35 years old.\nJSON with name, age, city:\n"
may_miss = gv.guide(gv.json_schema(person | {"required": ["name", "age"]}), clerk.vocabulary)

# %% [question]
# slide: If the schema requires a fact that is missing, the model invents one.
gv.predict(
    "The sentence `Hi! Maria Cohen is 35 years old.` names no city, and the schema requires one. What is written?",
    choices=["`null`", "an empty string", "an invented city", "no `city`: the object ends after the age"],
    answer="an invented city",
    reveal=[
        lambda: print(gv.record(clerk, nowhere, guide, temperature=0).text),
        """The key is required and its type is string, so `null` and an end after the age are illegal. An empty string
        is legal, but the model learned that a city stands there. Where a fact may be missing, allow `null` or a missing
        key: then a model can say so. `clerk` never learned this, and invents a city even if the key may be missing:""",
        lambda: print(gv.record(clerk, nowhere, may_miss, temperature=0).text),
    ],
)

# %% [markdown]
# **What breaks.** A limit on tokens can end a run in the middle. SmolLM2, a real model, read 30 orders such as *Marco
# Dubois from Dakar orders 14 lamps*. The schema asks for a customer and a list of items, each with a product and a
# count. No order has more than three items. With the mask and a limit of 120 tokens, only 4 of the 30 answers parse.
# The other 26 were cut inside the list.

# %%
orders = gv.decoding.Rates.load("smollm2/orders")
cases = json.loads(shipped("traces/smollm2/orders.json").read_text(encoding="utf-8"))["cases"]
print(orders)
print("The first answer ends:", cases[0]["outputs"]["mask"][-90:])


def show_orders():
    ways = ["free", "mask", "mask, at most 3 items"]
    bars = {what: [orders.shares(what)[way] for way in ways] for what in ("parses", "right customer", "right items")}
    return gv.draw_bars(ways, bars, title="share of the 30 answers")

# %% [question]
gv.predict(
    "Which change of the schema makes all 30 answers parse?",
    choices=[
        "`maxItems: 3` for the list",
        "`maxLength: 20` for each text",
        "`additionalProperties: false`, so that no other keys come",
        "none: a schema limits the values, not the number of tokens",
    ],
    answer="`maxItems: 3` for the list",
    reveal=[
        show_orders,
        """*Free* is without a mask: no whole answer is JSON, so nothing in it counts as right. Without `maxItems` one
        more item is always legal, and this model goes on. `maxItems` alone is no guarantee: a text in an item can be
        endless, too. The output is bounded only if every text, number and list has a limit. Now the customer is right
        in 20 of the 30 answers. The items are right in none, with either schema. (A thin line is a 95% interval.)""",
    ],
)

# %% [markdown]
# ## 6 · White space and other keys · home
#
# A validator ignores white space, and it allows other keys unless `additionalProperties` forbids them. A machine must
# choose what it writes. Here are our options, and below them the validator:

# %%
one = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
texts = ['{"age":42}', '{"age": 42}', '{ "age" : 42 }', '{"age": 42, "pets": 3}']
print(f"{'':27}", *texts, sep="   ")
settings = [{"whitespace": way} for way in ("space", "compact", "any")] + [{"extra_keys": "open"}]
judges = {str(setting): gv.json_schema(one, **setting).accepts for setting in settings}
judges["jsonschema"] = lambda text: jsonschema.Draft202012Validator(one).is_valid(json.loads(text))
for name, judge in judges.items():
    print(f"{name:27}", *(f"{'yes' if judge(text.encode()) else 'no':{len(text)}}" for text in texts), sep="   ")

# %% [markdown]
# Our default is one optional space and no other keys (`extra_keys="closed"`). XGrammar's default is any white space and
# no other keys. llguidance follows the standard in both.

# %% [markdown]
# ## 7 · Large limits · home
#
# The simple machine of `maxLength: 10` is ten copies of the machine for one character:

# %%
for most in (10, 20, 40):
    print(most, "characters:", len(gv.json_schema({"type": "string", "maxLength": most})), "states")
counted = gv.json_schema({"type": "string", "maxLength": 1000})
print(1000, "characters:", len(counted.nodes), "states and a counter")

# %% [markdown]
# The first three are copies: 20 states per character. The loop of section 1 has 12, because it need not count. Here the
# escapes of a pair such as `\ud83d\ude00` are *one* character, and half of a pair is refused.
#
# For 1,000 characters copies would be 20,003 states. outlines-core 0.2.14 makes such copies. Ours makes them up to 40
# characters. For longer texts it keeps the machine for one character once, and beside the state a **counter** of
# repeats. A smaller example: with a counter, `[a-z]{0,3}` needs one state. After `ab` the counter is 2, and a letter or
# the end is legal. At 3 only the end is legal.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "Schema-valid means correct." | Ten of ten guided outputs fit the schema. Eight are true. | 5 |
# | "A mask guarantees JSON that parses." | 26 of 30 masked answers were cut inside an endless list. | 5 |
# | "A schema lists all keys that are allowed." | `{"age": 42, "pets": 3}` fits: by default others are too. | 6 |

# %% [markdown]
# ## Recap
#
# * A schema of a fixed depth becomes a regex: keys become bytes in a row, ranges become patterns of digits.
# * The keys come in the order of `properties`. Name them in that order in the prompt.
# * A keyword is enforced, listed in `machine.notes`, or refused. Some engines ignore keywords without a message.
# * The mask guarantees the form of a run that ends. It does not guarantee the truth.

# %% [markdown]
# Next: a schema can contain itself. With `"friends": {"type": "array", "items": {"$ref": "#"}}` friends have friends,
# to any depth. No regex can say that. [Lab 07](07_pda.ipynb) shows why, and builds the machine for it.

# %% [markdown]
# ## How the production engines do it
#
# * **llguidance**: its [page on JSON Schema](https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md)
#   lists what it enforces. For the rest it aims to give an error.
# * **XGrammar**: [`from_json_schema`](https://github.com/mlc-ai/xgrammar/blob/main/python/xgrammar/grammar.py) has
#   `any_whitespace`, `strict_mode` and `any_order`. Version 2 counts repeats
#   ([arXiv 2601.04426](https://arxiv.org/abs/2601.04426)).
# * **outlines-core** ignores bounds of numbers (section 4);
#   [pull request 260](https://github.com/dottxt-ai/outlines-core/pull/260) of 2026 refuses them.
# * **llama.cpp** fixes the order of the keys. In [issue 15216](https://github.com/ggml-org/llama.cpp/issues/15216) a
#   model that prefers another order can no longer write an optional key.

# %% [markdown]
# ## Further reading
#
# * [A tour of JSON Schema](https://tour.json-schema.org/content/03-Objects/02-Additional-Properties): short lessons
#   with an editor. This one is about keys that a schema does not name.
# * [JSONSchemaBench](https://arxiv.org/abs/2501.10868): 10,000 schemas from real projects, and how many of them each
#   engine supports.
# * [Comparing the quality of structured generation
#   engines](https://blog.dottxt.ai/comparing-the-quality-of-structured-generation-engines.html), by the makers of one.

# %% [markdown]
# ## A puzzle
#
# Write the regex of an object with three keys in a fixed order. Each key may be missing. Commas stand only between
# members. How long is your regex for n keys?
#
# hint: Choose the first member that is present. After it, each later member is optional and brings its own comma.
#
# hint: There is one branch per first key. Count the members in all branches: n + (n - 1) + … + 1. The minimal machine
# merges the equal ends of the branches.
