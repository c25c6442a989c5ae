# question: How does a mask know which brackets are still open?

# %% [markdown]
# # Lab 06 · Pushdown machines
#
# **Question.** Brackets stand inside brackets, as deep as you like. How does a mask know which are still open?
#
# **Goal.** You can write a grammar and watch its stack. You let a model write nested JSON that no bracket can spoil,
# and you know when you need a stack, when you do not, and what it cannot promise.
#
# **Time.** {minutes} minutes, three exercises. [Lab 04](04_regex_to_tokens.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **rule** | a name, and what it stands for: text, and other rules |
# | **grammar** | several rules, and the one to begin with |
# | **derivation** | put in what a name stands for, again and again, until only text is left |
# | **stack** | a pile: *push* puts something on top, *pop* takes the top away, the rest is out of reach |
# | **pushdown machine** | short *PDA*: a small machine for each rule, and a stack of those begun but not finished |
# | **left-recursive** | said of a rule that may begin with itself |

# %%
import sqlite3

import guidedviz as gv

# %% [markdown]
# ## 1 · A machine that counts
#
# Boxes in boxes are easy for a person. Here is the friendly prompt again, and `clerk` without a mask.

# %%
clerk = gv.load_model("clerk")
clerks = clerk.vocabulary
boxes = "Hi! The piano holds a kettle, which holds a wallet, which holds a lemon, which holds a ring.\nNested JSON:\n"

# %%
def count_braces():
    for seed in range(3):
        text = gv.record(clerk, boxes, seed=seed).text
        print(text.count("{"), "opened,", text.count("}"), "closed:", repr(text))


# %% [question]
gv.predict(
    "Three seeds, three texts. In how many of them does it close as many braces as it has opened?",
    number=1,
    reveal=[count_braces, "One time in three. The other times it has lost count."],
)

# %% [markdown]
# So the mask has to count, and the only machines we have are
# **flat**: so many states and no more, no other memory. Let us make one anyway, for round brackets with nothing in
# between, at most so many inside each other. Its regex is built from the inside out.

# %%
def nested(kinds, depth):
    """A regex for brackets of these kinds, at most `depth` of them inside each other."""
    inside = ""
    for _ in range(depth):
        inside = "(" + "|".join(rf"\{opening}{inside}\{closing}" for opening, closing in kinds) + ")*"
    return inside


print(nested(["()"], 3))
gv.draw_machine(gv.regex(nested(["()"], 3)), title="round brackets, at most 3 deep")

# %% [markdown]
# The state *is* the number of open brackets. At q3 there is no arrow for another one: `((((` is refused, and with it
# every text that goes deeper.

# %%
depths = range(1, 8)
one = [len(gv.regex(nested(["()"], depth))) for depth in depths]
two = [len(gv.regex(nested(["()", "[]"], depth))) for depth in depths]

# %% [question]
gv.predict(
    "With one kind of brackets, one level more costs one state. Add the square ones, each closed by its own kind. What "
    "does one level more cost now?",
    choices=["two states", "four states", "about as many states as there are already"],
    answer="about as many states as there are already",
    reveal=[
        lambda: gv.draw_bars([f"{n} deep" for n in depths], {"one kind": one, "two kinds": two}, title="states"),
        """It doubles, and one more. After `[(` the mask must allow `)` and then `]`, after `([` the other way round.
        So the state has to hold which brackets are open, in their order, and there are twice as many such rows with
        each level.""",
    ],
)

# %%
print("2 to the power of levels + 1, less one:", two == [2 ** (depth + 1) - 1 for depth in depths])
print(f"at 20 levels: {2**21 - 1:,} states")

# %% [markdown]
# Two million states, and the 21st bracket is still refused.
#
# **What breaks.** More states do not help. Remember lab 03: beginnings may share a state if the same endings complete
# them. `(`, `((`, `(((` and so on: no two of them have the same endings. For brackets of *any* depth no finite number
# of states will do. What has to be remembered is a row that grows and shrinks at one end. That is a **stack**.

# %% [markdown]
# ## 2 · Names that stand for something
#
# First a way to write such texts down. A **rule** gives a name to what may stand in a place. Here an object holds one
# pair, and its value may be an object again. To make a text, begin with the name and put in what it stands for:

# %%
text = "object"
for name, body in [
    *[("object", "{string: value}"), ("string", '"key"'), ("value", "object")],
    *[("object", "{string: value}"), ("string", '"b"'), ("value", "number"), ("number", "1")],
]:
    text = text.replace(name, body, 1)
    print(f"{name:6} ⇒ {text}")

# %% [markdown]
# That is a **derivation**, in seven steps. Nothing in it counts, and yet every brace has its partner: the two came
# *together*, out of one rule.
#
# We write rules in GBNF, the notation of llama.cpp: `name ::= what it stands for`, text in quotes (`"\""` is a quote),
# `|` for *or*, and `[a-z]`, `( )`, `*`, `+`, `?` as in a regex. Two things are new: blanks between the parts mean
# nothing, and a name may stand on the right side, even the rule's own.

# %%
pairs = r"""
object ::= "{" string ": " value "}"
string ::= "\"" [a-z]+ "\""
value  ::= object | number
number ::= [0-9]+
"""
machine = gv.grammar(pairs, root="object")
print(machine)

# %%
def show(machine, *texts):
    """Is each text complete, and can it become so?"""
    for text in texts:
        data = text.encode()
        print(f"{text:24} complete: {machine.accepts(data)!s:6} a beginning: {machine.accepts_prefix(data)}")

# %%
six = ['{"key": {"b": 1}}', '{"key": {"b": 1}', '{"key":{"b":1}}', '{"a": {"b": {"c": 4}}}', "{}", "1"]

# %% [question]
gv.predict(
    "How many of these six texts does it accept?",
    number=2,
    reveal=[
        lambda: show(machine, *six),
        """The second is only a beginning. The third lacks a blank that the rule demands. The last two are no objects
        with one pair.""",
    ],
)

# %% [markdown]
# The derivation of the first text can be drawn as a tree: below each name stands what was put in.

# %%
gv.views.draw_derivation(machine, '{"key": {"b": 1}}')

# %% [markdown]
# ## Exercise 1 · Tags ★★
#
# Text of small letters and blanks, in which some parts are bold, `<b>…</b>`, and some italic, `<i>…</i>`. Tags may
# stand inside tags, as deep as you like, and each is closed by its own kind: `a <b>b<i>c</i></b>` is right,
# `<b><i></b></i>` is not. The text may be empty.
#
# The check looks for the shortest text on which your grammar is wrong. So far it knows no tags at all.

# %%
# solution:
tags = r"""
root   ::= ([a-z ] | bold | italic)*
bold   ::= "<b>" root "</b>"
italic ::= "<i>" root "</i>"
"""
# open:
# tags = r"""
# root ::= [a-z ]*
# """
# end
gv.checks.tags(tags)

# %% [markdown]
# If it is right, the check says up to which length all texts were compared. For regexes it could speak of *every* text,
# because there is only one smallest machine. Of two grammars no program can decide in all cases whether they mean the
# same. That is a theorem, and the price of the power.

# %% [markdown]
# ## 3 · The machine with a stack
#
# Each rule becomes a small machine, as a regex does. Its states are called **nodes**, for the state of the whole is
# more: a node and a stack. An arrow with a rule's name in a box is a **call**: push where you will go on, and go to the
# start of that rule. At its end pop, and go on there.

# %%
gv.draw_machine(machine, title="four rules")

# %% [markdown]
# Put a finger on the start of `object` and spell `{"key": {"b": 1}}`. At a box put a coin on it and move the finger to
# the start of that rule; where a rule ends, take the last coin away and go on behind its box. A box with nothing behind
# it but the end needs no coin: there is nothing to come back for.

# %% [question]
gv.predict(
    "Open are the rule under the finger and those in which a coin lies. How many at most?",
    number=3,
    reveal=[
        lambda: gv.draw_stack_table(machine, '{"key": {"b": 1}}', every=True),
        """Three. The rule under the finger is the top. The second `{` pushes an object, its `}` pops it, and what lies
        below the top waits.""",
    ],
)

# %% [markdown]
# A text is complete when the rule under the finger is finished **and nothing lies below it**: pop it, and the stack is
# empty. Here it is after `1`: the number may be finished, but two objects still wait for their brace.

# %%
gv.draw_stack(machine, '{"key": {"b": 1')

# %%
deep = b'{"a": ' * 1000 + b"1" + b"}" * 1000

# %% [question]
gv.predict(
    "`deep` is a thousand objects inside each other. Does the machine accept it? With one brace too few? One too many?",
    choices=["yes, no, no", "no, no, no: it is too deep", "yes, yes, no"],
    answer="yes, no, no",
    reveal=[
        lambda: print(machine, machine.accepts(deep), machine.accepts(deep[:-1]), machine.accepts(deep + b"}")),
        "Fifteen nodes, whatever the depth: the machine stays small, because what grows is the stack.",
    ],
)

# %% [markdown]
# ### Several stacks at once
#
# *First of 2*, say the table and the picture: after `1` the number may go on, or it has ended. The machine does not
# guess. It keeps **all** stacks that are possible. Take palindromes, which read the same from both ends: after `aaa`,
# where is the middle?

# %%
mirror = gv.grammar('root ::= "a" root "a" | "b" root "b" | [ab]?')
gv.views.draw_shared_stacks(mirror, "aaa")

# %% [markdown]
# A frame is an open rule, an orange one the top of a stack; the arrows lead down. All three `a` wait for a partner, or
# two, or one. (Or none: `aaa` is complete, and an empty stack has no frame.) Stacks share what they have in common,
# and none is ever changed; whoever steps back takes an old one out again.

# %% [markdown]
# ### A rule that begins with itself
#
# `clerk` writes sums, too, with brackets where they are needed. One may say what a sum is like this:

# %%
given = r"""
root   ::= root sign item | item
sign   ::= " " [-+*/] " "
item   ::= number | "(" root ")"
number ::= "0" | [1-9] [0-9]{0,2}
"""
gv.views.draw_lint(given.strip())

# %% [markdown]
# The first rule is **left-recursive**. To read a `root`, first read a `root`: whoever follows calls one after the other
# never comes to read a byte, and llama.cpp refuses the grammar. Ours takes it, for it puts the same call at the same
# place on the stack only once. Another kind of machine takes every grammar as it is: Earley's. For each place in the
# text it keeps a list of the rules that fit, with a dot where each of them stands. Here is its **chart** for `7+8`:

# %%
gv.views.draw_chart(gv.earley('root ::= root "+" digit | digit\ndigit ::= [0-9]'), "7+8")

# %% [markdown]
# A column says all that may be going on at its place, and where it began. In the first one stands the rule that begins
# with itself, once. (`start` is put in front of your rules: a text is one `root`.) This look is enough for now; the
# lesson on llguidance, which is built on such charts, comes later.

# %% [markdown]
# ## Exercise 2 · Sums without left recursion ★★
#
# Write a grammar for the same texts in which no rule begins with itself. One rule has to change: say what comes first,
# and then what may follow it *how often*.

# %%
# solution:
sums = given.replace("root sign item | item", "item (sign item)*")
# open:
# sums = r"""
# root   ::= root sign item | item
# sign   ::= " " [-+*/] " "
# item   ::= number | "(" root ")"
# number ::= "0" | [1-9] [0-9]{0,2}
# """
# end
gv.checks.sums(sums)

# %%
asked = ["The sum of three and four, times five.", "The sum of twelve and 30, divided by six.", "Seven plus eight."]
for text in asked:
    prompt = f"Hi! {text}\nExpression:\n"
    answers = [gv.record(clerk, prompt, guide).text for guide in (None, gv.guide(gv.grammar(sums), clerks))]
    print("free {!r:42} guided {!r}".format(*answers))

# %% [markdown]
# ## 4 · JSON
#
# Now the grammar that everybody wants. This is all of it, as RFC 8259 defines it:

# %%
print(gv.json().grammar.text)

# %% [markdown]
# Line by line:
#
# * `root`: a value, with blanks around it. `value`: one of seven things, two of which hold values again. That is where
#   the depth comes from: `value` → `object` → `member` → `value`.
# * `object`: nothing, or a member and then as often as you like a comma *and* a member. So no comma can come last.
# * `member`: a string, a colon, a value. `array`: as `object`, with values.

# %% [markdown]
# * `string`: in quotes any character but a quote, a backslash and the 32 control characters below the blank; or a
#   backslash and an `escape`, one of eight signs or `u` and four `hex` digits. So a line break in it is written `\n`.
# * `number`: perhaps a minus; `0`, or digits with no zero in front; perhaps a point with digits; perhaps an exponent.
# * `ws`: spaces, tabs and line breaks, as many as you like.

# %%
nine = ["[1, [2]]", "[1, 2,]", '{"a" : -0.5e3}', "{'a': 1}", "01", '"\\n"', '"\\x41"', "[[[[", "NaN"]
print(*nine, sep="   ")

# %% [question]
gv.predict(
    "How many of these nine texts are JSON?",
    number=3,
    reveal=lambda: show(gv.json(), *nine),
)

# %% [markdown]
# Only rules that can come to stand inside themselves need the stack: any other call could be written out in its place.
# So the next table leaves the others away. It is the text of section 3 again.

# %% [question]
gv.predict(
    "A `member` ends with its value. What becomes of it on the stack when that value is an object?",
    choices=["it stays below the object", "the object comes in its place", "it is pushed a second time"],
    answer="the object comes in its place",
    reveal=[
        lambda: gv.draw_stack_table(gv.json(), '{"key": {"b": 1}}'),
        """Seven steps, with the end. At the second `{` the object comes in place of the member: behind its value there
        is nothing to come back for, so it needs no coin. The `1` is no object: the second member stays until the
        brace.""",
    ],
)

# %% [markdown]
# Now let JSON hold the pen. Step through it and watch the stack: inside one token it may move several times. Find the
# tokens that push, and the one that closes a string and four objects. The switch above the stack shows the same moment
# as all stacks, as the tree so far, as a chart, and as the depth along the text.

# %%
guide = gv.guide(gv.json(), clerks)
gv.stage(clerk, boxes, guide, seed=1, constraint="JSON", show=14)

# %% [markdown]
# With seed 1 the free model opened three braces and closed four. Now the stack decides which brackets may close: go
# back to a place inside the objects and click a struck token, or ask here.

# %%
state = guide.initial
for token in clerk.encode('{"piano": {"kettle": "wallet"'):
    state = guide.advance(state, token)
print(guide.stack(state))
print(guide.explain(state, clerks.ids(b"]")[0]).reason)

# %% [markdown]
# ### Change the rules while it writes
#
# Boxes in boxes are less than JSON: one pair in each object, names of small letters. On the next stage you can type:
# the grammar is on it. Decode to the end, then change it: let names have capitals only, `[A-Z]+`; or no box hold a box,
# by taking `object |` away; or misspell a rule. The stage says which token is the first that the new grammar does not
# take. From there you may go on under the new one.

# %%
nest = r"""
root   ::= object
object ::= "{" string ": " value "}"
value  ::= object | string
string ::= "\"" [a-z]+ "\""
"""
gv.stage(clerk, boxes, edit=nest.strip(), seed=1, show=14)

# %% [markdown]
# ## Exercise 3 · Find the bug ★★
#
# This grammar should take lists of whole numbers and of such lists, as JSON writes them without blanks:
# `[1,[20,3],[]]`. There are three mistakes in it. Let the check show you the shortest text on which it is wrong, mend
# that, and look again.

# %%
lists = r"""
root   ::= "[" item ("," item?)* "]"
item   ::= number | root
number ::= [0-9]+
"""
# solution:
lists = r"""
root   ::= "[" (item ("," item)*)? "]"
item   ::= number | root
number ::= "0" | [1-9] [0-9]*
"""
# end
gv.checks.lists(lists)

# %% [markdown]
# ### A grammar made for one table
#
# A grammar is a text, so a program can write it. Here are queries in SQL. A column is any word, at first.

# %%
def query(column="[a-z]+", table="[a-z]+"):
    return rf"""
root      ::= "SELECT " column (", " column)* " FROM " table (" WHERE " condition)? ";"
condition ::= column " " [<>=] " " value
value     ::= [0-9]+ | "'" [A-Za-z ]+ "'"
column    ::= {column}
table     ::= {table}
"""

# %%
shelf = sqlite3.connect(":memory:")
shelf.execute("CREATE TABLE books (title, author, year)")


def judge(sql):
    """What SQLite says to a query."""
    try:
        return f"{len(shelf.execute(sql).fetchall())} rows"
    except sqlite3.Error as error:
        return f"error: {error}"

# %%
wanted = ["title of all books with year above 1990", "author of all books", "title of all books with price below 20"]
prompts = [f"Table books(title, author, year)\n{words}\nSQL:\n" for words in wanted]

# %%
def ask_all():
    for prompt in prompts:
        sql = gv.record(clerk, prompt, gv.guide(gv.grammar(query()), clerks)).text
        print(f"{sql:46} {judge(sql)}")


# %% [question]
gv.predict(
    "The table has three columns. The third question asks for a price. What happens?",
    choices=[
        "the model invents a column, and SQLite reports an error",
        "the model takes another column, and SQLite runs the query",
        "the mask leaves no column to write",
    ],
    answer="the model invents a column, and SQLite reports an error",
    reveal=[ask_all, "Perfect SQL, and an invented column."],
)

# %% [markdown]
# Now we put the names of this very table into the rules.

# %%
books = query(column='"title" | "author" | "year"', table='"books"')
known = gv.guide(gv.grammar(books), clerks)
for prompt in prompts:
    run = gv.record(clerk, prompt, known)
    print(f"{run.text:46} {judge(run.text):8} smallest Z {min(step.mass for step in run.steps):.2f}")

# %%
print(gv.grammar(books).accepts_prefix(b"SELECT title FROM books WHERE p"))
step = min(run.steps, key=lambda step: step.mass)
gv.draw_distribution(step, title="where the column should be")

# %% [markdown]
# (No rows, for the table is empty; but all three compile.) No model and no seed can write an invented column any more.
# But look at the third answer: it is nonsense. There *is* no price; the mask can only choose among wrong columns. What
# tells you is Z: at that step the model wanted something else entirely. **A tiny Z in the middle of a text means: look
# here, the grammar has overruled the model.**

# %% [markdown]
# ## 5 · Open without end
#
# A toy that only likes to open. Its tokens are four brackets, EOS, and `start`, which is its prompt.

# %%
opener = gv.ToyModel([b"(", b")", b"[", b"]", b"start", b"</s>"], lambda tokens: [9, 0, 8, 0, 0, 0], eos={5})
brackets = gv.guide(gv.grammar('root ::= ("(" root ")" | "[" root "]")*'), opener.vocabulary)
run = gv.record(opener, "start", brackets, max_tokens=20)
print(run.text, "|", run.steps[-1].end)

# %% [markdown]
# Every token was legal, and after each the text could still be completed. It only never was. **A mask promises that
# the end can be reached, not that it is.** Does a real model do such a thing? Here is seed 2 of our boxes.

# %%
run = gv.record(clerk, boxes, guide, seed=2, max_tokens=60)
print(run.text[:100], "…", run.steps[-1].end)

# %% [markdown]
# It lost a quote, and a string may go on as long as it likes. There are two ways out. The first is to say less: a
# **cap** in the grammar, one rule for each level.

# %%
def capped(depth):
    """Two kinds of brackets, at most so many inside each other: a rule a level."""
    levels = [f'level{n} ::= ("(" level{n + 1} ")" | "[" level{n + 1} "]")*' for n in range(depth)]
    return gv.grammar("\n".join([*levels, f'level{depth} ::= ""']), root="level0")


print(capped(7), "and as a flat machine", gv.regex(nested(["()", "[]"], 7)))
run = gv.record(opener, "start", gv.guide(capped(7), opener.vocabulary), max_tokens=40)
print(run.text, "|", run.steps[-1].end)

# %% [markdown]
# The same texts as the 255 states of section 1, in eight rules. But a cap on the depth is none on the length: at the
# bottom it closes, and opens again.
#
# The second way out is to look at the **budget**, the tokens that may still be written. The stack knows how much is
# open, so it knows the shortest way to the end. A token after which that way is longer than the budget is masked. The
# way is counted in bytes: each byte of it is also a token, so it never takes more tokens than bytes.

# %%
state = gv.json().initial
for byte in b'{"box": [[1, {"lamp"':
    state = gv.json().step(state, byte)
print(gv.json().stack(state))
print(gv.machines.bytes_to_end(gv.json(), state), "bytes to the end")

# %% [question]
gv.predict(
    "Which six bytes are the shortest way to the end?",
    choices=["`:0}]]}`", "`:{}]]}`", "`}]]}}}`"],
    answer="`:0}]]}`",
    reveal="""A colon, the shortest value, and what closes the four that are still open: an object, two arrays, an
           object.""",
)

# %%
def spend(budget):
    run = gv.record(opener, "start", gv.within(brackets, budget))
    print(len(run.steps), "tokens,", run.steps[-1].end)
    return gv.views.draw_depth(brackets.machine, run.text)


# %% [question]
gv.predict(
    "What will the opener do with 20 tokens, one of them EOS?",
    choices=["open 19", "open one and close it, again and again", "open 9, then close 9"],
    answer="open 9, then close 9",
    reveal=[
        lambda: spend(20),
        """The opener opens until it has just enough left to close. (Its curve begins at 1: `root` is open before
        anything is written. The first bracket is that root's own, the second is the first of a root inside it.)""",
    ],
)

# %% [markdown]
# And `clerk`, with the boxes that had no end:

# %%
run = gv.record(clerk, boxes, gv.within(guide, 60), seed=2)
print(len(run.steps), "tokens,", run.steps[-1].end, repr(run.text))

# %% [markdown]
# The text of `clerk` has become no better, but it is JSON: a program can read it, find out, and ask again. A plain
# limit on the number of tokens only cuts the text off, and what you get is a beginning.

# %% [markdown]
# ### The cheapest machine
#
# A stack costs: its states are not known beforehand, so no index can hold all masks. It has to be asked at each step.
# Take it only where something nests without end. An enum does not, nor does a record, nor the queries of section 4.

# %%
color = {"enum": ["red", "green", "blue"]}
flat = {"type": "object", "properties": {"name": {"type": "string"}, "color": color}, "required": ["name", "color"]}
tree = {"type": "object", "properties": {"inside": {"$ref": "#"}}}

# %%
def show_machines():
    for name, schema in {"enum": color, "record": flat, "tree": tree}.items():
        made = gv.json_schema(schema)
        print(f"{name:7} {made!r:28} {type(gv.guide(made, clerks)).__name__}")


# %% [question]
gv.predict(
    "`gv.json_schema` picks the cheapest machine that will do. How many of these three need a stack?",
    number=1,
    reveal=[
        show_machines,
        """Two flat machines, whose masks an index holds, and one with a stack, which has to be asked as the text
        grows. The `inside` of a tree may hold a tree: only what can stand inside itself forces a stack on you.""",
    ],
)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * A flat machine counts as far as it has states. With two kinds of brackets, each level doubles them.
# * In a grammar brackets come in pairs, out of one rule: nothing has to be counted.
# * The pushdown machine pushes where it will go on. Complete is: finished, and the stack empty.
# * A grammar is a text. Write the names of *this* table into it, and no other can be written.
# * A mask promises that an end can be reached. A budget makes it be reached.
# * An enum, a record, a date need no stack. Take the cheapest machine.

# %% [markdown]
# Next: the stack has to be asked at every step, over 128,256 tokens. But of most tokens one knows the answer *without*
# the stack. Which ones, and how much that saves, is the idea behind XGrammar, in
# [lab 08](08_token_splitting.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **llama.cpp**, `grammars/README.md`: the notation used here. `src/llama-grammar.cpp` keeps the set of all possible
#   stacks, and refuses left recursion.
# * **XGrammar**: Dong et al., arXiv 2411.15100 (2024): a pushdown machine over bytes; stacks share their tails in one
#   tree, so that a step back costs nothing. Since version 0.1.21 it parses with Earley.
# * **llguidance**, `README.md`: Earley's machine on top of a lexer, which first groups the bytes into words.

# %% [markdown]
# * **vLLM** takes a grammar with the request, `structured_outputs={"grammar": …}`, **SGLang** as `ebnf`.
# * Several stacks that share what they can: Tomita, *Efficient Parsing for Natural Language* (1985).
# * The chart: Earley, *An Efficient Context-Free Parsing Algorithm*, Communications of the ACM 13 (1970).
# * No program decides whether two grammars mean the same: Bar-Hillel, Perles and Shamir, *On formal properties of
#   simple phrase structure grammars* (1961).
