# question: Why does one grammar work, another loop, and a third never end?

# %% [markdown]
# # Lab 08 · Grammars at work
#
# **Question.** One grammar fits a database. Another sends a parser into an endless loop. A third lets a model write
# without end. What does an engine do about each, and when is a grammar the wrong tool?
#
# **Goal.** You can let a program write a grammar, tell what an ambiguous and a left-recursive grammar cost, write the
# move of Earley's parser that keeps left recursion from looping, close brackets in time, and choose the cheapest tool.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 07](07_pda.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **ambiguous** | a grammar is ambiguous if some text has two derivations |
# | **left-recursive** | a rule is left-recursive if it can begin with itself |
# | **lexeme** | a piece of text that counts as one symbol, such as a number; a *lexer* cuts a text into lexemes |
# | **item** | one alternative (choice) of a rule, a dot that shows how far it is read, and the place where it began |
# | **chart** | a list of items per place in the text |
# | **budget** | how many tokens may still be written |

# %% [markdown]
# **Lost?** *Rule*, *derivation* and *stack* are in lab 07, sections 2 and 3. *Z* is in lab 02, section 1.

# %%
import sqlite3

import guidedviz as gv
from guidedviz.machines.earley.items import Item, complete  # for the exercises

clerk = gv.load_model("clerk")

# %% [markdown]
# ## 1 · A grammar made for one table
#
# A grammar is a text, so a program can write it. The function below writes one for queries in SQL, from two parameters:
# the bodies of the rules `column` and `table`. By default each may be any word. (In SQL `WHERE year > 1990` keeps only
# the rows with a year above 1990.)

# %%
def query(column="[a-z]+", table="[a-z]+"):
    return rf"""
root      ::= "SELECT " column (", " column)* " FROM " table (" WHERE " condition)? ";"
condition ::= column " " [<>=] " " value
value     ::= [0-9]+ | "'" [A-Za-z ]+ "'"
column    ::= {column}
table     ::= {table}"""

# %% [markdown]
# No rule here calls itself, so these queries are a regular set: a finite automaton can read them (lab 07).
# Full SQL needs a stack, because a query may contain a query.
#
# The database has one table with three books. We ask three questions.

# %%
shelf = sqlite3.connect(":memory:")
shelf.execute("CREATE TABLE books (title TEXT, author TEXT, year INTEGER)")
known = [("1984", "Orwell", 1949), ("Ulysses", "Joyce", 1922), ("Atonement", "McEwan", 2001)]
shelf.executemany("INSERT INTO books VALUES (?, ?, ?)", known)
wanted = ["title of all books with year above 1990", "author of all books", "title of all books with price below 20"]
prompts = [f"Table books(title, author, year)\n{words}\nSQL:\n" for words in wanted]

# %%
# slide: A grammar that allows any word gives correct SQL with an invented column.
def ask(machine):
    """What `clerk` writes, what SQLite answers, and the smallest Z; the last run as a strip."""
    for prompt in prompts:
        run = gv.record(clerk, prompt, gv.guide(machine, clerk.vocabulary))
        try:
            said = ", ".join(str(row[0]) for row in shelf.execute(run.text))
        except sqlite3.Error as error:
            said = f"error: {error}"
        print(f"{run.text:46} {said:29} smallest Z {gv.sampling.probability(min(step.mass for step in run.steps))}")
    return gv.draw_strip(run, mass=True)


ask(gv.grammar(query()))

# %% [markdown]
# The third question asks for a price, and the table has none. The grammar allows any word as a column. So the SQL is
# well formed, and its column `price` is invented.

# %% [markdown]
# The database knows its own columns. The program asks for them and writes them into the grammar.

# %%
# slide: The program writes the three real columns into the grammar.
names = [f'"{row[1]}"' for row in shelf.execute("PRAGMA table_info(books)")]
books = query(column=" | ".join(names), table='"books"')
print(books)

# %% [question]
# slide: Now the query runs, and it answers another question: a tiny Z is the warning.
gv.predict(
    "Now only the three real columns are legal. What happens to the question about the price?",
    choices=[
        "the mask is empty at the column, and the run stops",
        "SQLite runs a query that answers another question",
        "the model leaves out the condition, which it cannot write",
    ],
    answer="SQLite runs a query that answers another question",
    reveal=[
        lambda: ask(gv.grammar(books)),
        """All three run. But the third compares the title with 20. As texts, `1984` comes before `20`, so the answer is
        the book *1984*. Three columns are legal, so the mask is not empty. The model wrote `WHERE` before it met the
        mask of the column, and it cannot take that back. Z shows this. It is the probability that the model gave to all
        legal tokens together: 1 in 61,000 at the pale token of the strip. A tiny Z inside a text means that the grammar
        overruled the model there.""",
    ],
)

# %% [markdown]
# ### Change the grammar · home
#
# The stage stands in the third query, before the column of the condition. Here Z is 1 in 61,000; under the bars it is
# the factor `× 61,000`, which is 1/Z. The grammar is in the tab **constraint**. Add `| "price"` to the rule `column`,
# and run on from here. Z is then near 1: the model writes what it wants, and SQLite would say again that there is no
# such column. This grammar can follow the model or the database, not both.

# %%
# slide: Before the column Z is 1 in 61,000: the grammar overrules the model here.
gv.stage(clerk, prompts[2], edit=books.strip(), show=5)

# %% [markdown]
# ## 2 · Ambiguous and left-recursive
#
# Here are three grammars for sums of digits. All three describe the same texts. The first is **ambiguous**: a sum has
# several trees. The second is **left-recursive**: `root` begins with itself. The third is
# **right-recursive**: `root` ends with itself.

# %%
# slide: This grammar is ambiguous: at the question mark the sum has a second tree.
grammars = {
    "ambiguous": 'root ::= root "+" root | [0-9]',
    "left": 'root ::= root "+" [0-9] | [0-9]',
    "right": 'root ::= [0-9] "+" root | [0-9]',
}
gv.views.draw_derivation(gv.grammar(grammars["ambiguous"]), "1+2+3")

# %% [markdown]
# The `?` says that this tree is one of several. Here `1+2` is the left part of the sum. In another tree `2+3` is the
# right part.

# %%
def compare(text):
    """What may follow a text under each grammar."""
    for name, rules in grammars.items():
        machine = gv.grammar(rules)
        legal = [one for one in "+0123456789" if machine.accepts_prefix((text + one).encode())]
        if machine.accepts(text.encode()):
            legal.append("the end")
        print(f"{name:9} legal after {text}:", *legal)


# %% [question]
# slide: The mask is the same for all three grammars; only the work differs.
gv.predict(
    "The text so far is `1+2`. Do the three grammars give the same mask?",
    choices=[
        "no: the ambiguous one allows more, because it can go on in more ways",
        "no: only the third may end here, because the others still wait for a `+`",
        "yes, all three",
    ],
    answer="yes, all three",
    reveal=[
        lambda: compare("1+2"),
        """A token is legal if any derivation can go on with it. The number of derivations does not matter, so grammars
        for the same texts have the same masks, the end included. What differs is the work: section 3 counts it.""",
    ],
)

# %% [markdown]
# ### Left recursion
#
# The simplest parser has one function per rule, which calls the functions of the rules in it. This is **recursive
# descent**. Here is the function of `root ::= root "+" [0-9] | [0-9]`. It should return the place where the root ends:

# %%
# slide: A parser with one function per rule never ends on a rule that begins with itself.
def read_root(text, place=0):
    end = read_root(text, place)  # the first alternative begins with a root
    if text[end : end + 1] == "+":
        return end + 2  # the root, a plus and a digit
    return place + 1  # the second alternative: one digit


try:
    read_root("1+2")
except RecursionError as error:
    print(type(error).__name__)

# %% [markdown]
# To read a root, the function first calls itself at the same place. That call does the same, and so on. No call reads
# a byte, and none comes to the second alternative. Python stops with an error. For recursive descent the rule must be
# rewritten, as in the third grammar.
#
# Your `step` of lab 07 cannot read this rule either. It needs one move per node and byte:

# %%
try:
    gv.machines.pushdown_moves(gv.grammar(grammars["left"]))
except gv.SettingError as error:
    print(error)

# %% [markdown]
# On the digit 0 the first node has two moves: read it, or call `root` once more. (`compare` used the library's
# machine. It keeps all possible stacks at once, and equal parts of them only once.)

# %% [markdown]
# ## 3 · Earley's parser
#
# Earley's parser has neither calls nor stacks. A lexer and a chart take their place:

# %%
# slide: The grammar is read by a lexer and a chart, which takes every grammar as it is.
gv.views.draw_loop("chart")

# %% [markdown]
# Jay Earley's parser takes every grammar as it is. The **lexer** groups the bytes into **lexemes**. A *place* is the
# start of the text, or the end of a lexeme. The **chart** has one *column* per place, so it needs fewer than one per
# byte. The title of a column is the lexeme that was read last. (A column of SQL is another thing.) A column lists what
# may be going on at its place.

# %% [markdown]
# The rules here are `sum → sum "+" term | term` and `term → number | "(" sum ")"`. An entry is an **item**, such as
# `sum → sum • "+" term (from 0)`: this `sum` began at place 0, everything left of the dot is read, and next it waits
# for a `+`. The first item is `start → • sum`: the whole text must be one sum.

# %% [markdown]
# Three moves fill the chart:
#
# 1. *The parser predicts.* An item waits for a rule, so this rule may begin here. Add an item for each alternative of
#    the rule to this column, with the dot in front. An item that is there already is not added again.
# 2. *The parser scans.* An item waits for a lexeme, and the next lexeme in the text is this one. Add the item to the
#    next column, with its dot moved.
# 3. *The parser completes.* An item is finished: its dot is at the end. Look into the column where it began, for the
#    items that wait for its rule. Add them to the current column, with their dots moved.

# %% [markdown]
# In the film the lexer is above the chart. A solid frame marks the new item, and dashed frames mark the items that led
# to it. The number at the right is the column where an item began. A finished `term → number •` with the number 1
# looks into column 1.
#
# Go to the first frame of the film and step. Look at frame 4, *sum waits for sum*: the items are in the column
# already, so nothing is added. This is why the parser does not loop.

# %%
# slide: Earley's parser keeps a chart: a column per place lists all that may be going on there.
rules = {"sum": [("sum", "+", "term"), ("term",)], "term": [("number",), ("(", "sum", ")")]}
sums = gv.grammar('sum ::= sum "+" term | term\nterm ::= [0-9]+ | "(" sum ")"', root="sum")  # the same in GBNF
gv.film(gv.views.earley_frames(rules, "(12)", {"number": "[0-9]+"}), title="Earley's parser reads (12)", show=17)

# %% [question]
# slide: A mask has two parts: the bytes that go on with the lexeme, and those that end it.
gv.predict(
    "The output so far is `(12`. How many characters are legal next?",
    number=12,
    reveal=[
        lambda: print("legal:", *(chr(byte) for byte in range(128) if sums.accepts_prefix(b"(12" + bytes([byte])))),
        """Twelve. The number may go on: ten digits. Or it ends here. Then `term → "(" sum • ")"` waits for `)`, and
        `sum → sum • "+" term` waits for `+`. Only the next byte tells the lexer whether the number has ended: in the
        film the next byte is `)`. So a mask has two parts: the bytes that continue the lexeme, and the bytes that may
        follow if it ends here.""",
    ],
)

# %% [markdown]
# ## Exercise 1 · The move predict ★★
#
# Now you write move 1. Rules are a dict, as `rules` above: from a name to a list of tuples of symbols. An item
# is `Item(rule, symbols, dot, origin)`; `item.wanted` is the symbol after the dot: a name in `rules`, a lexeme such as
# `"+"`, or `None` if the item is finished. `item.moved` is the item with its dot one further.

# %% [markdown]
# Write `add_predicted(rules, column, place)`; `place` is the number of the column. It returns a new list: the items of
# the column and all items that may begin at this place. A predicted item may ask for more rules. Each item comes once.
# With the rules of the film, a column with `start → • sum` gets four more items.
#
# hint: A `for` loop over a list also visits the items that are appended while it runs. Work on a copy of the column.
#
# hint: For each `symbols` in `rules.get(item.wanted, ())` make `Item(item.wanted, symbols, 0, place)`, and append it
# unless it is in the list. Without this test a left-recursive rule would add items without end.

# %%
# slide: Exercise 1: write the first move of the parser, predict.
def add_predicted(rules, column, place):
    # solution:
    column = list(column)
    for item in column:  # it grows
        for symbols in rules.get(item.wanted, ()):
            new = Item(item.wanted, symbols, 0, place)
            if new not in column:
                column.append(new)
    return column
    # open:
    # column = list(column)
    # for item in column:  # it grows while you append to it
    #     ...
    # end


gv.checks.predict(add_predicted)

# %% [markdown]
# The library's `gv.earley` works the same way. Each item costs work, so we count them for the three grammars of section
# 2. The text is a sum of 41 numbers. First come the sizes of the columns after the first five numbers, then the sum
# over all columns:

# %%
# slide: The masks are the same, the work is not: with left recursion Earley's parser needs the fewest items.
for name, grammar in grammars.items():
    chart = gv.earley(grammar).chart(b"1" + b"+1" * 40)
    sizes = [len(column.items) for column in chart]
    print(f"{name:9} after a number: {sizes[1:11:2]}, all: {sum(sizes):5,} items")

# %% [markdown]
# Left recursion needs the fewest: each `root` is finished as soon as its number is read, so every number adds the same
# three items. With right recursion all roots stay open. Each new number may be the last one, so it completes all of
# them again: 3, 4, 5, 6, 7 items. The ambiguous grammar has over 10²¹ trees for this sum (the Catalan number of 40),
# but each item is noted only once.

# %% [markdown]
# ## Exercise 2 · Scan, and the parser ★ · home
#
# Write `scan(column, character)`, without a lexer. Return the first items of the next column: after `(`, the item
# `term → • "(" sum ")"` becomes `term → "(" • sum ")"`.
#
# The next cell is the whole parser: it calls your two functions, and `complete`, an exercise of lab 10. The cell after
# the exercise tries four texts. It should print True, True, False, False. (While an exercise is open, all are False.)
#
# hint: Only items that wait for this character go on. The place where they began stays the same.
#
# hint: A list of `item.moved` for the items whose `wanted` is the character.

# %%
def parse(rules, text):
    """Is this a whole text of the first rule?"""
    whole = Item("start", (next(iter(rules)),), 0, 0)
    column, chart = [whole], []
    for place, character in enumerate([*text, ""]):
        chart.append(column)
        for item in column:  # it grows
            new = complete(chart, item) if item.wanted is None else add_predicted(rules, [item], place)
            column += [one for one in new or [] if one not in column]
        column = scan(column, character) or []
    return whole.moved in chart[-1]

# %%
# slide: Exercise 2: write the second move, scan, and your parser is complete.
def scan(column, character):
    # solution:
    return [item.moved for item in column if item.wanted == character]
    # open:
    # ...
    # end


gv.checks.scan(scan)

# %%
digits = {"sum": [("sum", "+", "digit"), ("digit",)], "digit": [("1",), ("2",)]}
print(*(f"{text}: {parse(digits, text)}" for text in ("1", "1+2", "1+2+", "1++2")), sep="   ")

# %% [markdown]
# ## 4 · Open without end
#
# A grammar with brackets allows texts of any depth. This toy model prefers opening brackets. Its tokens are four
# brackets, EOS, and `start`, which is its prompt.

# %%
# slide: Every mask leaves a way to the end, but this run does not take it.
opener = gv.ToyModel([b"(", b")", b"[", b"]", b"start", b"</s>"], lambda tokens: [9, 0, 8, 0, 0, 0], eos={5})
brackets = gv.guide(gv.grammar('root ::= ("(" root ")" | "[" root "]")*'), opener.vocabulary)


def show_run(guide):
    """What the opener writes, how many brackets are open after each token, and how many tokens were legal."""
    steps = gv.record(opener, "start", guide, max_tokens=20).steps
    written = [step.piece.decode() for step in steps]
    change = [(one in "([") - (one in ")]") for one in written]
    rows = {"written": written, "open": [sum(change[: n + 1]) for n in range(len(steps))]}
    for name, row in (rows | {"legal": [step.legal for step in steps]}).items():
        print(f"{name:8}", *(f"{one:>2}" for one in row))
    print("ended by", steps[-1].end)


show_run(brackets)

# %% [markdown]
# The model may write 20 tokens. Each mask held three legal tokens, and after each token the text could still be
# completed. It was not. A mask promises that the end can be reached. It does not promise that the run reaches it,
# because the mask does not know the limit.

# %% [markdown]
# One way out is a **budget**: how many tokens may still be written. The stack holds what is open, so the shortest end
# of the text can be computed. After each token, enough tokens must be left for this end. A token that breaks this is
# masked. (Here each bracket is a token, so the end takes one token per bracket.)

# %% [question]
# slide: With a budget the mask closes all brackets in time.
gv.predict(
    "The opener gets a budget of 20 tokens, one of them EOS. How many brackets does it open?",
    number=9,
    reveal=[
        lambda: show_run(gv.within(brackets, 20)),
        """Nine. Without EOS, 19 tokens are left for brackets. A tenth opening one would need ten closing ones: 20. So
        all opening brackets are masked, and the run closes.""",
    ],
)

# %% [markdown]
# ## 5 · Which tool, and when none
#
# Take the first row that fits your output. The last row can be added to any other.
#
# | the output | tool | lab |
# | --- | --- | --- |
# | is prose for people | none | 00 |
# | is yes or no | none: compare two logits | 01 |
# | is one of some known texts | list of texts: a small finite automaton | 03 |
# | is a date, a number, an identifier | regex: finite automaton | 03, 04 |
# | is JSON with known keys | JSON Schema | 06 |
# | nests to any depth, as formulas or full SQL | grammar, or recursive schema: PDA | 07 |
# | must be true or consistent | a validator afterwards and a retry | 13 |

# %% [markdown]
# The last row is needed even with a grammar: in section 1 it allowed only real columns, and the answer was still wrong.

# %% [question]
# slide: Only what nests to any depth needs a stack.
gv.predict(
    "Four outputs. Which one needs a grammar with a stack?",
    choices=[
        "a date that exists: no 31 April, and 29 February in leap years only",
        "an order as JSON with ten known keys, two of them lists of numbers",
        "a comment with replies, which can have replies, and so on",
        "an invoice whose total is the sum of its items",
    ],
    answer="a comment with replies, which can have replies, and so on",
    reveal=[
        lambda: print("dates:  ", gv.json_schema({"type": "string", "format": "date"})),
        lambda rules='root ::= "(" [a-z]+ root* ")"': print("replies:", gv.grammar(rules), "of", rules),
        """Only the replies nest to any depth. (In their grammar, round brackets stand around each comment.) A
        finite automaton with 31 states knows all dates that exist, between quotes. A list of numbers may be long, but
        it does not nest: a finite automaton can read the order. No context-free grammar can check a sum of numbers of
        any length. The invoice needs a JSON Schema, and a validator for the total.""",
    ],
)

# %% [markdown]
# ### A schema that contains itself · home
#
# A JSON Schema can contain itself: `{"$ref": "#"}` stands for the whole schema. Such a **recursive schema** is the form
# that most tools take, and the compiler makes a grammar of it.
# Each comment, also an inner one, must have the key `say`:

# %%
# slide: A recursive schema is the form of such a grammar that most tools take.
replies = {"type": "array", "items": {"$ref": "#"}}
comment = {"type": "object", "properties": {"say": {"type": "string"}, "replies": replies}, "required": ["say"]}
gv.views.draw_verdicts(gv.json_schema(comment), ['{"say":"a","replies":[{"say":"b"}]}', '{"say":"a","replies":[{}]}'])

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "An ambiguous grammar gives ambiguous masks." | The masks are equal. The chart has 2,666 items, not 166. | 2, 3 |
# | "Left recursion makes a parser slow." | Earley's parser needs 166 items with it, 1,066 without. | 3 |
# | "Under a mask every text is completed." | A run wrote 20 brackets that open, and none that closes. | 4 |
# | "JSON Schema is only a regex." | Not if it contains itself: the replies need a stack. | 5 |

# %% [markdown]
# ## Recap
#
# * A program can write the grammar. A tiny Z shows where the grammar overruled the model.
# * An ambiguous grammar has texts with two derivations. The mask is the same, the work is more.
# * Recursive descent loops on left recursion. Earley's parser keeps each item once, so it ends.
# * Three moves fill a chart: the parser predicts, scans and completes. Only the next byte shows whether a number has
#   ended.
# * A mask promises that the end can be reached. A budget makes the run reach it.
# * Take the cheapest tool that expresses the constraint, or none.

# %% [markdown]
# Next: at every step the machine must say of each token whether it is legal. Llama 3 has 128,256 tokens. For most of
# them the answer does not depend on the stack. [Lab 09](09_token_splitting.ipynb) finds out for which: this is the idea
# behind XGrammar.

# %% [markdown]
# ## How the production engines do it
#
# * **llama.cpp** crashed on left recursion ([issue 6492](https://github.com/ggml-org/llama.cpp/issues/6492)) and has
#   refused it since [pull request 7083](https://github.com/ggml-org/llama.cpp/pull/7083).
# * **XGrammar** once looped on it ([issue 126](https://github.com/mlc-ai/xgrammar/issues/126)). Today it parses with
#   Earley ([earley_parser.h](https://github.com/mlc-ai/xgrammar/blob/main/cpp/earley_parser.h)).
# * **llguidance** puts a lexer in front of Earley's parser. It reads a notation like that of Lark ([a
#   request](deeper/a_request.ipynb) shows it). Its
#   [guide to the syntax](https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md) says which rules become
#   lexemes, and that this matters for speed.

# %% [markdown]
# * **Programming languages**: Python had an LL(1) grammar, which decides at the start of a rule, until version 3.9; now
#   its parser tries alternatives in order ([PEP 617](https://peps.python.org/pep-0617/)). PostgreSQL reads SQL with an
#   LALR(1) grammar for Bison, which decides at the end of a rule
#   ([gram.y](https://github.com/postgres/postgres/blob/master/src/backend/parser/gram.y)).
# * **PICARD** checks SQL against the database's schema while it is written
#   ([arXiv 2109.05093](https://arxiv.org/abs/2109.05093)).

# %% [markdown]
# ## Further reading
#
# * [Earley parsing explained: empty rules](https://loup-vaillant.fr/tutorials/earley-parsing/empty-rules): shows the
#   mistake of the puzzle below item by item, and its cure.
# * [Attention meets reachability](https://arxiv.org/abs/2603.05540): proves that grammars for the same texts give the
#   same masks, and what ambiguity costs.
# * [TruncProof](https://arxiv.org/abs/2605.13076): a token budget for JSON from 2026, with another parser and with
#   measurements.

# %% [markdown]
# ## A puzzle
#
# A rule is *nullable* if it can stand for the empty text, as `blank` in
# `spaced = {"root": [("blank", "blank", "x")], "blank": [(), (" ", "blank")]}`. The text `x` is two empty blanks and an
# `x`. But `parse(spaced, "x")` is `False`. Where is the mistake, and how would you repair it?
#
# hint: Write down the first column. The empty `blank` is completed once. Which item comes into the column after that
# and waits for `blank`?
#
# hint: Aycock and Horspool (2002): when a nullable rule is predicted, the dot also moves over it at once.
