# question: How does a mask know which brackets are still open?

# %% [markdown]
# # Lab 07 · Pushdown automata
#
# **Question.** JSON nests: an object can hold an object, to any depth. How does a mask know which brackets are still
# open?
#
# **Goal.** You can read a grammar, follow its automaton with a stack byte by byte, and write the step that pushes and
# pops.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 06](06_json_schema.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **regular** | a set of texts is regular if some finite automaton accepts exactly these texts |
# | **context-free grammar** | a set of *rules*; each rule says what a name may be replaced by |
# | **derivation** | the steps that replace one name after another until only text is left |
# | **stack** | a list that changes only at its end, the *top*: *push* adds an item, *pop* removes it |
# | **pushdown automaton** | short *PDA*: a finite automaton with a stack |
# | **return node** | the place (*node*) where the calling rule continues after the call |

# %% [markdown]
# **Lost?** [Lab 03](03_fsm.ipynb) has states and accepting states, and its section 1 says when two prefixes need
# different states. [Lab 04](04_regex_to_machine.ipynb) has the finite automaton of a regex (a DFA). Three boxes of the
# decoding loop are new:

# %%
# slide: Today the state is a stack, and the machine comes from a grammar.
import guidedviz as gv

gv.views.draw_loop("stack")

# %% [markdown]
# ## 1 · A finite automaton counts only so far
#
# The model `clerk` writes nested JSON for this prompt, three times and without a mask:

# %%
# slide: Three nested objects without a mask: only the first closes as many braces as it opens.
clerk = gv.load_model("clerk")
boxes = "Hi! The piano holds a kettle, which holds a wallet, which holds a lemon, which holds a ring.\nNested JSON:\n"
for seed in range(3):
    text = gv.record(clerk, boxes, seed=seed).text
    print(text.count("{"), "opened,", text.count("}"), "closed:", repr(text))

# %% [markdown]
# Two of the three are broken, so the mask must know how many braces are open. The machines of labs 03 and 04 are
# **finite automata**: the state is their only memory. `nested(kinds, depth)` writes a regex for brackets of these
# kinds, with at most `depth` open at a time.

# %%
# slide: A finite automaton counts brackets with its states, up to the depth for which it was built.
def nested(kinds, depth):
    inside = ""
    for _ in range(depth):
        inside = "(" + "|".join(rf"\{opening}{inside}\{closing}" for opening, closing in kinds) + ")*"
    return inside


depths = range(1, 8)
one, two = ([len(gv.regex(nested(kinds, depth))) for depth in depths] for kinds in (["()"], ["()", "[]"]))
gv.draw_machine(gv.regex(nested(["()"], 3)), title="round brackets, at most 3 levels")

# %% [markdown]
# The state is the number of open brackets. State q3 has no arrow for another opening bracket, so `((((` is refused. Now
# we add square brackets. Each bracket must be closed by its own kind.

# %% [question]
# slide: With two kinds of brackets each level doubles the number of states.
gv.predict(
    "With one kind of brackets, one more level costs one state. With two kinds, what does one more level cost?",
    choices=[
        "two states: one for each kind",
        "about as many states as there are levels: two counters",
        "about as many states as there are already",
    ],
    answer="about as many states as there are already",
    reveal=[
        lambda: gv.draw_bars([f"{n} deep" for n in depths], {"one kind": one, "two kinds": two}, title="states"),
        lambda: print(f"two kinds: 2 ** (levels + 1) - 1, so {2**21 - 1:,} states for 20 levels"),
        """The number doubles. Two counters are not enough: `[(` and `([` have the same counts, but they need different
        endings, `)]` and `])`. So the state must hold which brackets are open, in their order, and each level doubles
        the number of such lists.""",
    ],
)

# %% [markdown]
# **What breaks.** For *any* depth no finite number of states is enough. Remember lab 03: two prefixes need different
# states if some ending completes only one of them. The ending `)` completes `(`, but not `((`. The ending `))`
# completes `((`, but not `(`. So each of the prefixes `(`, `((`, `(((`, … needs a state of its own: brackets of any
# depth are not **regular**, and no regex describes them.
#
# The automaton must remember a list that grows and shrinks at one end. That is a **stack**.

# %% [markdown]
# ## 2 · Rules instead of counting
#
# A **rule** says what a name stands for. Here an object holds one pair, and the value of the pair may be an object
# again. A **derivation** starts with the name `object` and replaces one name per step:
#
# ```
# object ⇒ {string: value}
#        ⇒ {"key": value}
#        ⇒ {"key": object}
#        ⇒ {"key": {string: value}}
#        ⇒ {"key": {"b": value}}
#        ⇒ {"key": {"b": number}}
#        ⇒ {"key": {"b": 1}}
# ```
#
# Nothing is counted here. Still every brace has its partner, because one rule writes both braces in one step. A rule
# that can lead back to itself, as `object` does here through `value`, is **recursive**.

# %% [markdown]
# We write rules in **GBNF**, the notation of llama.cpp: `name ::= body`. Text stands in quotes, and `"\""` is a quote.
# `|`, `[a-z]`, `( )`, `*`, `+` and `?` mean the same as in a regex. Blanks between the parts mean nothing. The *root*
# is the rule of the whole text, here `object`.

# %%
values = r"""
string ::= "\"" [a-z]+ "\""
value  ::= object | number
number ::= [0-9]+
"""
machine = gv.grammar('object ::= "{" string ": " value "}"' + values, root="object")

# %% [markdown]
# That object has exactly one pair. To allow none or several, someone writes the grammar `first`. Ours is `second`.

# %%
first = r"""
object ::= "{" pair (", " pair)* "}"
pair   ::= string ": " value"""

second = r"""
object ::= "{" (pair (", " pair)*)? "}"
pair   ::= string ": " value"""
four = ["{}", '{"a": 1}', '{"a": 1, "b": 2}', '{"a": {}}']

# %% [question]
# slide: The mask follows the rule that you wrote, not what you meant.
gv.predict(
    'Four objects: `{}` · `{"a": 1}` · `{"a": 1, "b": 2}` · `{"a": {}}`. How many of them does the first grammar '
    'refuse, `"{" pair (", " pair)* "}"`?',
    number=2,
    reveal=[
        lambda: gv.views.draw_verdicts(gv.grammar(first + values, root="object"), four),
        """Two: after each `{` the rule demands a pair, so it refuses `{}`, inside an object too. The author
        meant to allow `{}`. A mask follows the grammar, not the intention: a model that wants an empty object must
        invent a pair. In our rule `( )?` makes the pairs optional:""",
        lambda: gv.views.draw_verdicts(gv.grammar(second + values, root="object"), four),
    ],
)

# %% [markdown]
# ## 3 · The automaton with a stack
#
# Back to the grammar with one pair. Each rule becomes a small automaton, as a regex does. Its states are called
# **nodes**. A box with the name of a rule is a **call**. It works like a function call in Python. On the stack the
# **return node** takes the place of the calling node, and the first node of the called rule comes on top. Where the
# called rule ends, its node is popped, and the automaton goes on at the return node.

# %%
# slide: Each rule is a small automaton, and a box is a call of another rule.
frames = gv.views.stack_frames(machine, '{"key": {"b": 1}}')
gv.draw_machine(machine, title="four rules")

# %% [markdown]
# The current node is on top of the stack, and the return nodes are below it. Follow `{"key": {"b": 1}}` in the picture.

# %% [question]
# slide: The stack holds the place in the current rule, and where to go on after each call.
gv.predict(
    'The automaton has read `{"key": {"b": 1` and stands at n14. How many nodes are on the stack, with n14?',
    number=5,
    reveal="""Five: n14 on top, then n12, n5, n12, n5. Each of the two objects has called a value (return to n5). The
    outer value has called an object and the inner value a number (return to n12). Step the film below to n14 to see
    them.""",
)

# %% [markdown]
# The film has one frame per read, call and return. Go to its start and step.

# %% [predict]
# slide: Read, call, return: follow one text through the automaton and its stack.
gv.film(frames, title="one text, its automaton and its stack", show=12)

# %% [markdown]
# As a program, the automaton is a dictionary of **moves** from node and byte, and the set `ends` of the nodes where a
# rule may end. There is at most one move per node and byte: this automaton is **deterministic**. A call stands under
# each byte with which the called rule can begin: n11 calls `object` on `{` and `number` on a digit. Here are the moves
# of n0 on `{` and of n1 on a quote, and the ends:

# %%
# slide: As a program, the automaton is a dictionary of moves.
moves, ends = gv.machines.pushdown_moves(machine)
moves[0, ord("{")], moves[1, ord('"')], sorted(ends)

# %% [markdown]
# ## Exercise 1 · One byte on the stack ★★
#
# The move `("read", 1)` means: read the byte, go to n1. `("call", 7, 2)` means: call the rule that begins at n7, and
# return to n2. To read one byte, the automaton pops the top node and looks up its move for this byte:
#
# * `("read", node)`: push `node`. The byte is read.
# * `("call", start, after)`: push the return node `after`, then `start`. The byte is not read yet: look at the new top.
# * no move, and the node is in `ends`: its rule returns. Look at the new top. An empty stack has none.
# * in all other cases the byte is illegal.

# %% [markdown]
# Write `step(moves, ends, stack, byte)`. It returns the stack after the byte, or `None` if the byte is illegal. The
# stack is a list of nodes, the last one is the top. It may hold thousands: use a loop. Bytes are numbers. Example: n14
# and n12 are in `ends`, and n5 has the move `("read", 6)` on `}`. So `}` turns `[5, 12, 14]` into `[6]`.
#
# hint: `moves.get((node, byte))` gives the move, or None. After a read the function returns. After a call or a return
# it looks at the new top.
#
# hint: For a read: `return [*stack, move[1]]`. For a call: `stack += [move[2], move[1]]`. A return pushes nothing,
# since the node was popped.

# %%
# slide: Exercise 1: write one step of the stack.
def step(moves, ends, stack, byte):
    stack = list(stack)
    while stack:
        node = stack.pop()
        # solution:
        move = moves.get((node, byte))
        if move is None and node not in ends:
            return None
        if move and move[0] == "read":
            return [*stack, move[1]]
        if move:
            stack += [move[2], move[1]]
        # open:
        # ...  # read, call, return, or refuse
        # end


gv.checks.stack_step(step)

# %% [markdown]
# ## Exercise 2 · May the text end? ★
#
# A text is complete if every rule on the stack may end. After `{"key": {"b": 1}` the stack is `[5, 12, 6]`, and n5 is
# not in `ends`: the outer object still waits for its brace.
#
# Write `may_end(ends, stack)`: True if a text with this stack is complete, else False. On the empty stack `[]` no
# rule waits, so it is True. (Your `step` always leaves a node.) `None` (a refused text) gives False.
#
# hint: What must hold for the current node, and what for every return node?
#
# hint: Treat `None` first. Then look whether *every* node of the stack is in `ends`.

# %%
# slide: Exercise 2: write the test whether the text may end here.
def may_end(ends, stack):
    # solution:
    return stack is not None and all(node in ends for node in stack)
    # open:
    # ...  # True or False
    # end


gv.checks.may_end(may_end)

# %% [markdown]
# `run` reads a whole text with your `step`. `[0]` is the stack at the start:

# %%
def run(table, text):  # table is (moves, ends)
    stack = [0]
    for byte in text.encode():
        stack = step(*table, stack, byte) if stack else None
    return stack


# %% [markdown]
# Your automaton on a thousand objects inside each other, then with one brace too few, and with one too many. It should
# print True, False, False. (While an exercise is open, it prints None.)

# %%
deep = '{"a": ' * 1000 + "1" + "}" * 1000
for what, text in (("complete", deep), ("one too few", deep[:-1]), ("one too many", deep + "}")):
    print(f"{what:13}", may_end(ends, run((moves, ends), text)))
print(machine)

# %% [markdown]
# Fifteen nodes are enough for every depth: the automaton stays the same, and the stack grows.

# %% [markdown]
# **What one stack can do.** A set of texts is *context-free* if some grammar describes it. Every regular set is
# context-free, but some context-free sets are not regular.

# %%
regular = ("regular", "states only", "dates · decimal numbers · the schemas of lab 06 · brackets with 20 levels")
more = ("context-free", "states and a stack", "brackets of any depth · JSON · SQL · palindromes, such as abba")
gv.views.draw_rings([more, regular], outside="the indentation of Python")

# %% [markdown]
# ## 4 · JSON
#
# This is the complete grammar of JSON, after [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). `object` and `array`
# call `value`, and `value` calls them: this recursion allows any depth.

# %%
# slide: This is all of JSON: objects and arrays call values, and values call them.
print(gv.json().grammar.text)

# %% [markdown]
# JSON is deterministic, too, so your `step` can read it. Which bytes does it accept after `{"a": [1`? Write down your
# list, then run the cell.

# %%
# slide: The bytes that your step accepts after this text are the mask of JSON.
table = gv.machines.pushdown_moves(gv.json())
stack = run(table, '{"a": [1')
print(len(table[0]), "moves; legal now:", [chr(byte) for byte in range(128) if step(*table, stack or [], byte)])

# %% [markdown]
# <details><summary>Which bytes, and why</summary>
#
# Besides `,` and `]`, white space, ten digits, the point, `E` and `e` are legal: `1.5` and `1e9` are numbers. (While
# exercise 1 is open, the list is empty.)
#
# </details>
#
# If each token is one byte, these bytes are the mask. For whole tokens a guide walks the trie of lab 05 with this step.

# %% [markdown]
# Now JSON guides the model. The stage shows the rule that is read now. The *strips* below are the stack, one per rule,
# with this rule on top. A rule whose last part has been called has nothing left to do. Your `step` keeps its return
# node, and the stage leaves it out. So `value` has no strip, nor has `member` from its value on. ([A page on
# palindromes](deeper/palindromes.ipynb) says more.)

# %% [markdown]
# The stage opens before the first token. Half of the probability is on texts such as `Sure`, with which JSON cannot
# begin. Step once: `{"` puts `object`, `member` and `string` on the stack. Then go on to `ring`. There are six strips,
# and the next token closes the upper five. (Small dots are inner bytes of a character beyond ASCII.)

# %%
# slide: The model wants a word first, but JSON begins with none; each call puts a strip on the stack.
json_guide = gv.guide(gv.json(), clerk.vocabulary)
gv.stage(clerk, boxes, json_guide, constraint="JSON", show=0)

# %% [question]
# slide: A mask does not bring the missing quote back: the run goes on to its limit.
gv.predict(
    'With seed 2 the model leaves out the quote after `ring` and writes `"ring}}`. Then it wants to end, but the '
    "string and four objects are still open. What does it write under the mask?",
    choices=[
        "the missing quote and the braces: the mask brings them back",
        "more text, up to its limit of tokens",
        "nothing: no token is legal, and the run stops",
    ],
    answer="more text, up to its limit of tokens",
    reveal=[
        lambda: gv.draw_strip(gv.record(clerk, boxes, json_guide, seed=2, max_tokens=40), mass=True),
        """The two braces are part of the string now. Inside a string nearly every token is legal, but the end is not:
        at the first ` Hope` the mask keeps only Z = 0.12 of the probability, at the second 1 in 1,400. The quote is
        legal, too. But the model does not want it, and a mask does not prefer one legal token to another. A mask
        guarantees the form of a run that ends. This run does not end.""",
    ],
)

# %% [markdown]
# ## Exercise 3 · Find the bug ★★ · home
#
# This grammar should accept lists of the numbers 0, 1, 2, … and of such lists, in JSON without blanks: `[1,[20,3],[]]`.
# It has three mistakes. The check shows the shortest text on which it is wrong. Correct this and look again. (No
# program can always tell whether two grammars agree: this is *undecidable*. The check compares texts up to a length.)
#
# hint: Ask of each part: may it be missing? Look at the `?` first, then at the numbers.
#
# hint: The content of a list may be missing, but an item must follow each comma. A number is `"0"`, or it begins with
# `[1-9]`.

# %%
# slide: Exercise 3: find three mistakes in a grammar of lists.
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
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | claim | what we measured | where |
# | --- | --- | --- |
# | "A regex with enough states can nest." | 7 levels take 255 states, by the formula 20 take 2,097,151 | section 1 |
# | "The stack holds the open brackets." | it holds nodes: five after `{"key": {"b": 1` | section 3 |
# | "A grammar allows what its author meant." | the first grammar was meant to allow `{}`; it refuses it | section 2 |

# %% [markdown]
# ## Recap
#
# * A finite automaton counts up to its number of states. With two kinds of brackets, each level doubles that number.
# * In a grammar one rule writes both brackets of a pair. Some context-free sets are not regular.
# * A pushdown automaton pushes a return node per call, and pops at the end of a rule.
# * A text is complete if every rule on the stack may end.

# %% [markdown]
# Next: [lab 08](08_grammars_at_work.ipynb) puts grammars to work. A program writes one for a database, and a budget
# closes all brackets in time.

# %% [markdown]
# ## How the production engines do it
#
# * **llama.cpp** defines [GBNF](https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md). Its grammar code
#   keeps the set of all possible stacks ([pull request 1773](https://github.com/ggml-org/llama.cpp/pull/1773)).
# * **XGrammar** began as a pushdown automaton over bytes, whose stacks share their lower parts in one tree ([arXiv
#   2411.15100](https://arxiv.org/abs/2411.15100)). Today it uses Earley's algorithm, the subject of lab 08 ([pull
#   request 308](https://github.com/mlc-ai/xgrammar/pull/308)).
# * **llguidance** uses Earley's algorithm on top of a lexer ([repository](https://github.com/guidance-ai/llguidance)).

# %% [markdown]
# ## Further reading
#
# * [Pushdown automata and parsing](https://courses.cs.washington.edu/courses/cse431/19au/Parsing.pdf): why every
#   grammar has such an automaton, in a few pages.
# * [llama.cpp, pull request 1773](https://github.com/ggml-org/llama.cpp/pull/1773): the change that brought grammars to
#   llama.cpp.
# * [Parsing JSON is a minefield](http://seriot.ch/parsing_json.php): how dozens of JSON parsers disagree.

# %% [markdown]
# ## A puzzle
#
# Write a grammar with one rule for the texts `ab`, `aabb`, `aaabbb` and so on. The texts `abc`, `aabbcc`, `aaabbbccc`
# and so on have no context-free grammar. What does the stack hold after the last `b`? Why does it not help with the
# `c`?
#
# hint: `root ::= "a" root? "b"` opens one `root` per `a`, and each `b` ends one.
#
# hint: After the last `b` each `root` is at its end, so nothing says how many `c` must come. No automaton with one
# stack can do it: this is proved by the *pumping lemma for context-free languages*.
