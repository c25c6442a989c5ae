# question: Of 128,256 tokens, which ones need the stack?

# %% [markdown]
# # Lab 09 · Most tokens need no stack
#
# **Question.** The stack is different at every step, and Llama 3 has 128,256 tokens. Which of them need the stack?
#
# **Goal.** You sort the tokens at a node of a grammar before decoding, without a stack. You can say how a mask is
# filled from the sorted tokens, and what *context-dependent* means.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 08](08_grammars_at_work.ipynb)
# comes before this one.

# %% [markdown]
# ## Five words
#
# | word | meaning |
# | --- | --- |
# | **context-independent token** | the node decides it alone: it *accepts* or *rejects* it, whatever the stack |
# | **context-dependent token** | the node cannot decide it alone, so it must be read on the stack |
# | **lookahead** | what may come after a rule on some stack |
# | **context expansion** | before decoding, a token that goes on after a rule is compared with its lookahead |
# | **closure** | all nodes that a machine can be at without reading another byte |

# %% [markdown]
# **Lost?** *Node*, *call* and *return node* are in lab 07, section 3; the walk of the trie and the index are in lab 05,
# sections 2 and 3.

# %%
import time

import numpy as np

import guidedviz as gv

# %% [markdown]
# ## 1 · What a mask costs
#
# Without a table and without the trie of lab 05, the pushdown machine of lab 07 must read every token at every step.
# Llama 3 writes JSON and is inside a string. How much work is one mask?

# %%
def after(machine, data, state=None):
    """The state after these bytes, or None if the machine cannot read them."""
    state = machine.initial if state is None else state
    for byte in data:
        state = machine.step(state, byte) if state is not None else None
    return state


def read_all(machine, state, vocabulary):
    """The legal tokens of a state, found by reading each token from its first byte."""
    pieces = vocabulary.pieces
    return {token for token in vocabulary.text_ids if after(machine, pieces[token], state) is not None}

# %%
llama = gv.Vocabulary.llama3()
inside = after(gv.json(), b'{"a')


def show_cost():
    began = time.perf_counter()
    legal = read_all(gv.json(), inside, llama)
    milliseconds = 1000 * (time.perf_counter() - began)
    print(f"{len(legal):,} of {len(llama):,} tokens are legal, found in {milliseconds:.0f} ms")
    print(f"they have {sum(len(llama.pieces[token]) for token in legal):,} bytes")


# %% [question]
# slide: Inside a string more than nine of ten tokens are legal, so there is nothing to skip.
# NBVAL_IGNORE_OUTPUT
gv.predict(
    'Inside the string of `{"a`, how many of the 128,256 tokens are legal?',
    choices=[
        "a few hundred: a mask forbids nearly everything",
        "about half: the others have quotes, brackets or line breaks in them",
        "more than nine of ten",
    ],
    answer="more than nine of ten",
    reveal=[
        show_cost,
        """96%. In a JSON string brackets and commas are plain text, and few tokens have a quote, a backslash or a line
        break. So the machine must read nearly all tokens to their end, about 800,000 bytes. A graphics card computes
        the next logits in some milliseconds and would wait for this Python. A C++ engine is far faster, but it has the
        same work.""",
    ],
)

# %% [markdown]
# In lab 05 an index solved this: sort the tokens once per state, before decoding. Here a state is a node *and* a stack,
# and there is no limit to the number of stacks. But a grammar has few **nodes**: that of JSON has fewer than a hundred.
# So we sort the tokens once per node, and read the stack only where the node cannot decide.

# %%
# slide: Sort the tokens once per place in the grammar, before decoding.
gv.views.draw_loop("split")

# %% [markdown]
# ## 2 · Sort the tokens at a node
#
# The rule on top of the stack decides most tokens. The rules below it matter only if the token goes on
# past the end of that rule.

# %%
# slide: Four rules and 20 nodes: the stacks have no limit, but the nodes are few.
rules = r"""
value  ::= object | list | string
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
list   ::= "[" value (", " value)* "]"
string ::= "\"" [a-z]+ "\""
"""
nested = gv.grammar(rules, root="value")
begun = ['"a', '["a', '{"a', '{"a": "a', '[["a', '{"a": ["a', '[{"a": "a', '[{"a']
gv.draw_machine(nested, title="objects and lists of strings")

# %% [markdown]
# `begun` holds eight texts. After each of them the machine is at the same node, n18: inside a string, after a letter.
# Only the stacks differ.

# %%
def show_legal():
    for piece in ["bc", 'a"', '":', '"}', '"]', '"}]', '"A']:
        legal = [text for text in begun if nested.accepts_prefix((text + piece).encode())]
        print(f"{piece:4} legal after {len(legal)} of 8  ", "  ".join(legal) if len(legal) < 8 else "")


# %% [question]
# slide: Four of seven tokens depend on the stack; the rule on top decides the others.
gv.predict(
    'Seven tokens: `bc`, `a"`, `":`, `"}`, `"]`, `"}]`, `"A`. Look at the byte after the quote. '
    "How many tokens are legal after some of the eight texts and illegal after others?",
    number=4,
    reveal=[
        show_legal,
        """Four. `bc` and `a"` are legal on every stack, and `"A` on none of the eight. The other four depend on the
        stack: `":` needs an object that waits for a colon.""",
    ],
)

# %% [markdown]
# Eight stacks are not all stacks. To decide for *every* stack, cut the token where the rule ends. Here `string` reads
# the quote and ends. Then the machine returns to the node below on the stack (in the picture below: the circle). This
# node decides the next byte: n8 reads `}`, n5 waits for a colon, n13 waits for a comma or `]`. (*end*: nothing lies
# below.)
#
# Between `list` and `string` the rule `value` is open, too (node n1). Nothing can be read at n1, so the library does
# not put it on the stack.

# %%
# slide: Cut the token where the rule ends: the rule decides the first part, the stack decides the rest.
gv.views.draw_cut(nested, begun, '"}]')

# %% [markdown]
# ## Exercise 1 · Sort a token ★★
#
# Write `sort_token(rule, state, piece)`. The rule calls no other rules, so it is a finite automaton. It reads the
# piece from `state`: `rule.step(state, byte)` gives the next state, or `None` if the rule cannot read the byte.
# `rule.is_accepting(state)` says whether the rule may end at this state. Return
#
# * `"accepted"` if the rule can read every byte of the piece (also if the piece is empty);
# * `"dependent"` if it cannot, but after one of the bytes it was in an accepting state: the token can be cut there;
# * `"rejected"` in all other cases.
#
# After `"a` of a string, `"}]` is dependent: the rule can end after the quote.

# %% [markdown]
# A cut needs at least one byte before it. So if the rule reads no byte of the piece, the answer is `"rejected"`. If the
# rule may end at `state`, the machine is also at the node below, and that node has its own table (section 3).
#
# `"A` is dependent for now: the rule alone does not know that nothing begins with `A`. Context expansion will know it.
#
# hint: After each byte that the rule reads, ask `rule.is_accepting(state)`. At the first byte that it cannot read, you
# know the answer.
#
# hint: Start with `finished = False`. After each byte: `finished = finished or rule.is_accepting(state)`. At `None`
# return `"dependent"` if `finished`.

# %%
# slide: Exercise 1: sort a token into accepted, rejected or context-dependent.
def sort_token(rule, state, piece):
    # solution:
    finished = False
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "dependent" if finished else "rejected"
        finished = finished or rule.is_accepting(state)
    return "accepted"
    # open:
    # ...  # read the piece; remember whether the rule was accepting after a byte
    # end


gv.checks.sort_token(sort_token)

# %% [markdown]
# Your function sorts the 4,096 tokens of `clerk` at this node. `gv.build_split` does the same for every node of a
# grammar, by one walk of the trie.

# %%
clerk = gv.load_model("clerk")
clerks = clerk.vocabulary
plain = gv.build_split(nested, clerks, inline=False, expand=False)  # without the ideas that come later
(node,) = nested.places(after(nested, b'["a'))  # the machine is at one node: n18


def sort_all():
    word = gv.regex('"[a-z]+"')
    said = [sort_token(word, after(word, b'"a'), clerks.pieces[token]) for token in clerks.text_ids]
    said.append("rejected")  # EOS: the string is open
    print("yours:  ", {verdict: said.count(verdict) for verdict in ("accepted", "rejected", "dependent")})
    print("library:", plain.node(node))


# %% [question]
# slide: Of 4,096 tokens 15 are context-dependent.
gv.predict(
    "How many of the 4,096 tokens are context-dependent at this node?",
    choices=["15", "231", "1,850", "2,246"],
    answer="15",
    reveal=[
        sort_all,
        lambda: gv.draw_split(plain, node, title="inside a string, after a letter"),
        """Fifteen, less than half a percent: they go on after a quote. 1,850 are accepted on every stack. Of the 2,246
        others, 2,231 are rejected: the rule may not end after any byte that it reads. (While the exercise is open,
        yours counts EOS only.)""",
    ],
)

# %% [markdown]
# ### Context expansion
#
# The rule `string` does not know what follows it. The grammar does: after a string comes a colon, a comma, a closing
# bracket or the end (which is no byte and has no box below). This is the **lookahead** of `string`. **Context
# expansion** compares the bytes after the cut with it, before decoding. Here are four tokens:

# %%
# slide: Context expansion compares the rest of a token with all that may come after the rule.
gv.views.draw_expansion(nested, '["a', ['"A', '"}', '"}}', '"}\n'])

# %% [markdown]
# `A` is not in the lookahead, so `"A` is rejected. In `"}}` the first `}` ends an object, so the second one is compared
# with the lookahead of `object`. The line break of `"}↵` is not in it, so this token is rejected, too. Context
# expansion only rejects. What passes must still be read on the stack, even if all stacks would allow it.

# %%
# slide: The grammar knows what can follow a string, and then eight tokens are left.
split = gv.build_split(nested, clerks, inline=False)  # with context expansion
for name, tables in (("the rule alone", plain), ("context expansion", split)):
    tokens = tables.node(node).dependent
    print(f"{name + ':':19}{len(tokens):3} context-dependent:", *[clerks.display(token) for token in tokens])

# %% [markdown]
# Seven are rejected now: `"A`, `"The`, and five with a line break, because this grammar has none. Each of the other
# eight is legal on one stack and illegal on another: `"}}}}` is legal if the string is a value inside four objects.

# %% [markdown]
# ## 3 · The mask at run time
#
# At run time the mask is filled from the tables of the nodes. A node *accepts* or *rejects* a token. The mask says
# whether it is *legal* or *illegal*.

# %% [markdown]
# The machine can be at several nodes at once. In JSON, after `{"a": 1`, the number may go on, or it has ended and the
# object goes on. So one node is in `number`, one in `object`. Lab 07's `step` is given the next byte. A mask is made
# before the next byte is known, so both nodes count. Together they are the **closure** (`places` in the code).

# %% [markdown]
# * A token that one node of the closure accepts is legal, whatever the stack.
# * A token that all nodes reject is illegal.
# * A token that no node accepts, and that is context-dependent at some node, must be read on the real stack.
#
# This is how the XGrammar paper fills a mask.

# %%
document = gv.build_split(gv.json(), clerks, inline=False)


def show_closure():
    print(f"{'at the node in':16}", *(f"{token:18}" for token in ("2", "}", "}}", ":")))
    for rule, node in zip(("number", "object"), gv.json().places(after(gv.json(), b'{"a": 1')), strict=True):
        found = [document.node(node).verdicts[clerks.ids(piece)[0]] for piece in (b"2", b"}", b"}}", b":")]
        print(f"{rule:16}", *(f"{('rejected', 'accepted', 'context-dependent')[verdict]:18}" for verdict in found))


# %% [question]
# slide: One node that accepts a token is enough; the stack is read only where no node accepts it.
gv.predict(
    'After `{"a": 1`: which of the tokens `2`, `}`, `}}` and `:` must be read on the stack?',
    choices=[
        "`2` and `}`: the two nodes do not agree on them",
        "`}` and `}}`: they close objects, and the open objects are on the stack",
        "only `}}`",
    ],
    answer="only `}}`",
    reveal=[
        show_closure,
        """The number cannot read `}`, so its node rejects it. The node in `object` accepts it, and one node is enough:
        `}` is legal. `2` is legal for the same reason. `}}` ends the object and goes on, so the rules below it decide.
        `:` is rejected by both nodes: it is illegal.""",
    ],
)

# %% [markdown]
# Here is this engine on the whole grammar of RFC 8259. The stage stands before the token `"}}}}`. The stack has
# `string` on top, below it four objects and `root`; the tab **machine** draws it as strips. Open the tab **map**: 13
# tokens are context-dependent here, not 8: this grammar also allows whitespace. Ten of them are legal on this stack.
# Then drag the slider of the steps back until `piano`, the first key, is framed. There the legend says: one legal, 12
# illegal. The legal one is `":`, because a colon must follow a key.

# %%
# slide: Before a token of many braces the engine reads the real stack.
boxes = "Hi! The piano holds a kettle, which holds a wallet, which holds a lemon, which holds a ring.\nNested JSON:\n"
gv.stage(clerk, boxes, gv.guide(gv.json(), clerks), seed=1, constraint="JSON", show=14, stack=True)

# %% [markdown]
# ## 4 · JSON on Llama 3
#
# Now the full size: JSON and 128,256 tokens. Remember section 2: a token is context-dependent only if the rule reads
# its first bytes, may end there, and bytes are left over. The last of three tables adds *rule inlining*: a rule is
# copied to the places where it is called, so fewer rules end inside a token.

# %%
full_json = gv.build_split(gv.json(), llama)  # with all ideas
splits = {
    "tables only": gv.build_split(gv.json(), llama, inline=False, expand=False),
    "and context expansion": gv.build_split(gv.json(), llama, inline=False),
    "and rule inlining": full_json,
}

# %%
def show_shares():
    texts = ['"a', "[1", '"\\', "[ ", '"\\u00e']
    print(f"{'context-dependent after':23}", *(f"{text.replace(' ', '␣'):>8}" for text in texts), "  most at a node")
    for name, split in splits.items():
        print(f"{name:23}", end="")
        for text in texts:
            node, *_ = split.pda.places(after(split.pda, text.encode()))  # the node of the rule on top
            print(f"{len(split.node(node).dependent):9,}", end="")
        most = max(len(part.dependent) for part in split.build())
        print(f"{most:9,} = {most / len(llama):6.2%}")


# %% [question]
# slide: Inside a string less than one percent of the tokens are context-dependent; in whitespace it was 46 percent.
gv.predict(
    "Without context expansion, 1,151 of the 128,256 tokens are context-dependent inside a string: less than 1%. At "
    "another node of JSON it is 46%. Which one?",
    choices=[
        "inside a number, after a digit: the number may end there",
        "in whitespace, after a blank: the whitespace may end there",
        "inside a string, after a backslash: the escape ends after one letter",
    ],
    answer="in whitespace, after a blank: the whitespace may end there",
    reveal=[
        show_shares,
        """The table counts the node of the rule on top only. Look at the first row. In the column `[␣` the rule `ws`
        reads the blank and may end there, and nearly half of the tokens of Llama 3 begin with whitespace and go on. In
        the column `[1` no token is cut: a token that begins with a digit has only digits (lab 05). After `"\\` the
        string is still on top: it calls the escape, and then it reads on. Only 62 tokens also end the string and go on,
        such as `"",`.""",
        """Context expansion rejects nearly all tokens with a word, because hardly any word can follow in JSON. The node
        with the most is then in an escape such as `\\u00e9`, before its last digit: the rule `escape` ends after it,
        and nearly everything may follow in a string. With rule inlining no node has more than 169.""",
    ],
)

# %% [markdown]
# ## 5 · Another node, another verdict
#
# The token ` the` is accepted inside a string and rejected after a digit. It is context-independent at both nodes,
# because no stack can change either verdict. Some descriptions use a different test: they call a token
# context-dependent if its verdict is not the same at every node.

# %%
verdicts = np.array([part.verdicts for part in full_json.build()])  # 0 rejected, 1 accepted, 2 context-dependent

# %% [question]
# slide: A token is context-dependent if one node cannot decide it; comparing nodes instead finds nearly all tokens.
gv.predict(
    "How many of the 128,256 tokens does this other test call context-dependent?",
    choices=[
        "317: those that are context-dependent at some node",
        "about 5,000: those with a bracket, a quote, a digit or whitespace",
        "124,702: nearly all",
    ],
    answer="124,702: nearly all",
    reveal=[
        lambda: print(f"verdict differs between nodes:   {(verdicts != verdicts[0]).any(axis=0).sum():7,} tokens"),
        lambda: print(f"context-dependent at some node:  {(verdicts == 2).any(axis=0).sum():7,} tokens"),
        """Nearly every token is accepted inside a string and rejected somewhere else, and that needs no stack. The
        right test asks whether the node alone decides: only 317 tokens are context-dependent at any node.""",
    ],
)

# %% [markdown]
# ## 6 · What breaks · home
#
# Could an engine skip the stack, and let all context-dependent tokens pass? `check=False` does that.
# The loop is that of lab 02. It stops where the machine cannot read the token that was drawn.
#
# First we count these tokens. Of the 20 nodes of section 2, four are the ends of the rules, drawn as double circles. No
# byte is read there, so 16 nodes have a table.

# %%
parts = split.build()  # one table per node
count = sum(len(part.dependent) for part in parts)
print(f"{len(parts)} nodes × {len(clerks):,} tokens = {len(parts) * len(clerks):,} verdicts: {count} context-dependent")

# %%
def write(split, seed):
    tokens, written, state = clerk.encode(prompt), b"", nested.initial
    for position in range(60):
        logits = gv.sampling.apply_mask(clerk.logits(tokens), split.mask(state))
        token = gv.sampling.sample(gv.sampling.softmax(logits), seed=seed, position=position)
        if token in clerks.eos:
            break
        tokens, written = [*tokens, token], written + clerks.pieces[token]
        state = after(nested, clerks.pieces[token], state)
        if state is None:
            break
    return written.decode()

# %%
prompt = "Hi! The red shelf holds a piano and a kettle.\nJSON list in JSON:\n"
careless = gv.build_split(nested, clerks, inline=False, check=False)

# %% [question]
# slide: An engine that does not read the stack breaks some texts, and it does so where a rule ends.
gv.predict(
    "The model writes eight texts without reading the stack. Some are broken. Where?",
    choices=[
        "inside a string, at a character that the rule cannot read, such as `A`",
        'where a token ends a rule and goes on, such as `",` after a key',
        "at the end: EOS is drawn while a bracket is open",
    ],
    answer='where a token ends a rule and goes on, such as `",` after a key',
    reveal=[
        lambda: gv.views.draw_verdicts(nested, [write(careless, seed) for seed in range(8)]),
        """Two of eight, both at `",` after a key. In a list this token is legal after a string; after a key a colon
        must come. `A` is rejected at the node, so it cannot pass. EOS is legal only where all rules may end, and the
        library asks this at every step. So the 16 context-dependent verdicts of 65,536 are enough to break a text (that
        there are also 16 nodes is chance): at the end of a string these tokens are likely.""",
    ],
)

# %% [markdown]
# ## Exercise 2 · Fill the mask ★★ · home
#
# Write `fill_mask(parts, on_stack)`. Each part is a pair of sets of ids for one node: its accepted tokens and its
# context-dependent tokens. `on_stack(token)` reads a token on the real stack and says whether it is legal. That is
# slow: call it only for tokens that need it, and once for each. Return the set of all legal ids. For the parts
# `({1}, {2})` and `({2}, {3})` only token 3 needs it.

# %% [markdown]
# The next cell makes the parts from the library's tables of JSON. After `{"a": 1` there are two. The cell after the
# exercise compares your masks with those of reading every token. While the exercise is open, yours are not the same.
#
# hint: First collect the accepted tokens of all parts. A token that one node accepts needs no stack.
#
# hint: Collect `accepted` and `dependent` by `|=`. Read `dependent - accepted` with `on_stack`, and add the legal ones
# to `accepted`.

# %%
def my_mask(state):
    verdicts = [document.node(place).verdicts for place in gv.json().places(state)]  # 1 accepted, 2 context-dependent
    pairs = [(set(np.flatnonzero(row == 1)), set(np.flatnonzero(row == 2))) for row in verdicts]
    return set(fill_mask(pairs, lambda token: after(gv.json(), clerks.pieces[token], state) is not None) or ())

# %%
# slide: Exercise 2: fill the mask from the tables, and ask the stack only where you must.
def fill_mask(parts, on_stack):
    # solution:
    accepted, dependent = set(), set()
    for yes, maybe in parts:
        accepted |= yes
        dependent |= maybe
    return accepted | {token for token in dependent - accepted if on_stack(token)}
    # open:
    # ...  # the accepted tokens of all nodes first
    # end


gv.checks.fill_mask(fill_mask)

# %%
for text in ['["a', '{"a', '{"a": 1', '[1', '[{"a": 1']:
    state = after(gv.json(), text.encode())
    legal = read_all(gv.json(), state, clerks)
    print(f"{text:9} nodes: {len(gv.json().places(state))}, legal: {len(legal):5,}; the same:", end=" ")
    print(f"yours {my_mask(state) == legal}, library {set(np.flatnonzero(document.mask(state))) == legal}")

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | often said | measured here | section |
# | --- | --- | --- |
# | "Less than 1% are context-dependent." | without context expansion 0.9% in a string, 46% in whitespace | 4 |
# | "A context-independent token has the same verdict at every node." | true of 3,554 of 128,256 tokens | 5 |
# | "They are so few that an engine can ignore them." | then some texts are broken | 6 |
#
# The second sentence compares nodes. The right test asks whether the *node alone* decides: for 127,939 tokens every
# node does.

# %% [markdown]
# ## Recap
#
# * There is no limit to the stacks, but the nodes are few: sort the tokens at each node once, before decoding.
# * Cut the token where the rule ends. The rule decides the bytes before the cut, the stack those after it.
# * At run time take the accepted tokens of all nodes in the closure, and read only the context-dependent ones.
# * Context expansion leaves few of them, because it knows what may follow a rule.
#
# [What xgrammar keeps](deeper/xgrammar_forensics.ipynb) shows what each idea saves.

# %% [markdown]
# Next, the other way: no table per grammar. [Lab 10](10_walk_the_trie.ipynb) walks the trie at every step and skips
# what cannot be legal, as llguidance does.

# %% [markdown]
# ## How the production engines do it
#
# * xgrammar parses with [Earley's algorithm](https://github.com/mlc-ai/xgrammar/blob/main/cpp/earley_parser.h) today,
#   not with the stack of [its paper](https://arxiv.org/abs/2411.15100). Its tables still have three verdicts;
#   *uncertain* is its word for context-dependent.
# * It [derives a lookahead](https://github.com/mlc-ai/xgrammar/blob/main/cpp/grammar_functor.cc) only for a rule that
#   is called from exactly one place, not at the end: 10 of 23 compiled rules of our JSON grammar.

# %% [markdown]
# ## Further reading
#
# * [XGrammar](https://arxiv.org/abs/2411.15100): the paper of this lab, with the three verdicts and Algorithm 1.
# * [XGrammar-2](https://arxiv.org/abs/2601.04426): how grammars share tables when tools change with each request.
# * [The authors' introduction](https://blog.mlc.ai/2024/11/22/achieving-efficient-flexible-portable-structured-generation-with-xgrammar):
#   the same ideas in ten minutes, with pictures.

# %% [markdown]
# ## A puzzle
#
# `"}}}}` ends a string and four objects. How many open rules below `string` must an engine look at to decide this
# token? And which grammars need no stack at all: for which can every call be replaced by the text of the rule?
#
# hint: Each `}` ends one rule. For the second question: what happens if a rule calls itself?
