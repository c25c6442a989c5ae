# question: Of 128,256 tokens, which need to ask the stack?

# %% [markdown]
# # Lab 08 · Most tokens never ask the stack
#
# **Question.** A stack has to be asked at every step, and there are 128,256 tokens. Which of them need it?
#
# **Goal.** You sort the tokens at a node of the grammar into three heaps without knowing the stack, and count them for
# JSON and Llama 3. You know why the rest must still be asked, and you can say what an engine's published numbers count.
#
# **Time.** {minutes} minutes, three exercises. [Lab 06](06_pda.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **sure** | legal, or illegal, whatever lies on the stack |
# | **ask** | a token asks where its rule alone cannot tell: the stack below decides |
# | **split** | for every node: which tokens are surely legal, which surely not, and which ask |
# | **expansion** | short for *context expansion*: look at what may follow a rule, so that fewer tokens ask |
# | **inline** | put the text of a rule in the place of its call, so that fewer rules end |
# | **overlap** | two pieces of work that go on at the same time |

# %%
import json
import time

import numpy as np

import guidedviz as gv

try:
    import xgrammar
except ImportError:  # one cell compares with it
    xgrammar = None

# %% [markdown]
# ## 1 · What it costs to ask
#
# Llama 3 writes JSON and stands inside a string. Which of its tokens are legal? The plain way: read every piece, byte
# by byte, with the pushdown machine of lab 06. Here is that, and it counts its moves.

# %%
def ask_all(machine, state, vocabulary):
    """The mask of a state by reading every piece from its first byte, and how many moves that takes."""
    mask, moves = np.zeros(len(vocabulary), dtype=bool), 0
    mask[list(vocabulary.eos)] = machine.is_accepting(state)
    for token in vocabulary.text_ids:
        here = state
        for byte in vocabulary.pieces[token]:
            here, moves = machine.step(here, byte), moves + 1
            if here is None:
                break
        mask[token] = here is not None
    return mask, moves

# %%
def after(machine, data, state=None):
    """The state after these bytes; None if they cannot be read."""
    state = machine.initial if state is None else state
    for byte in data:
        state = machine.step(state, byte) if state is not None else None
    return state

# %%
llama = gv.Vocabulary.llama3()
inside = after(gv.json(), b'{"piano": "')

# %%
mask, moves = ask_all(gv.json(), inside, llama)
walked = len(list(gv.tokens.walk_steps(llama.trie, gv.json(), inside)))

# %% [question]
gv.predict(
    "How many moves does one mask take, piece by piece?",
    choices=["about ten thousand", "about a hundred thousand", "about a million"],
    answer="about a million",
    reveal=[
        lambda: print(f"{mask.sum():,} of {len(llama):,} are legal"),
        lambda: print(f"{moves:,} moves piece by piece, {walked:,} on the trie"),
        """More than 800,000, and still a quarter of a million on the trie of lab 04, where what begins alike is read
        once: inside a string nearly everything is legal, so little can be cut.""",
    ],
)

# %% [markdown]
# All of it is needed again for the next token. What does that take on your computer?

# %%
# NBVAL_IGNORE_OUTPUT
whole = gv.build_split(gv.json(), llama, cache=False)  # keeps nothing: each mask is a walk of the whole trie
for what, work in {
    "piece by piece  ": lambda: ask_all(gv.json(), inside, llama),
    "the whole trie  ": lambda: whole.mask(after(whole.pda, b'{"piano": "')),
}.items():
    began = time.perf_counter()
    work()
    print(f"{what}{1000 * (time.perf_counter() - began):8.1f} ms for one mask")

# %% [markdown]
# A graphics card has the next logits ready after some milliseconds. If the mask takes longer, the card waits.
#
# Lab 04 had an answer: walk before the first token, from every state, and keep an index. But here a state is a node
# *and a stack*, and of these there is no end. The **nodes** are few, though: 58 at which a JSON text can stand. So how
# much can be said of a token by one who knows the node, and nothing of the stack?

# %% [markdown]
# ## 2 · Three heaps
#
# A small grammar of boxes and lists, and eleven tokens.

# %%
rules = r"""
value  ::= object | list | string
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
list   ::= "[" value (", " value)* "]"
string ::= "\"" [a-z]+ "\""
"""
nested = gv.grammar(rules, root="value")
gv.draw_machine(nested, title="boxes and lists")

# %%
pieces = ["a", "bc", 'a"', '"', '":', '",', '"}', '"]', '"}]', '"A', "A"]
begun = ['"a', '["a', '{"a', '{"a": "a', '[["a', '{"a": ["a', '[{"a": "a', '[{"a']

# %% [markdown]
# Eight texts, and after each of them the machine stands at the same node: inside a string, at least one letter read.
# Only the stacks are different.

# %%
def show_legal():
    for piece in pieces:
        legal = [text for text in begun if nested.accepts_prefix((text + piece).encode())]
        print(f"{piece:4} legal after {len(legal)} of 8  ", "  ".join(legal) if len(legal) < 8 else "")


# %% [question]
gv.predict(
    "How many of the eleven tokens are legal after some of the eight texts and illegal after others?",
    number=5,
    within=1,
    reveal=[
        show_legal,
        """Three heaps. `a`, `bc`, `a"` and `"` are legal whatever lies below, `A` and `"A` never are, and the others
        depend on it: `":` needs an object that waits for a colon.""",
    ],
)

# %% [markdown]
# But eight stacks are not all stacks. How can one be sure for *every* stack, without trying any? By looking at what
# the token does. As long as the rule `string` itself reads the bytes, nobody has looked below it. Only when the rule is
# finished **and bytes are left over**, what lies below comes in.

# %% [markdown]
# ## Exercise 1 · Sort a token ★★
#
# Write `sort_token(rule, state, piece)`. The rule is a flat machine, as in lab 04, and stands in `state`. Say
#
# * `"yes"` if the rule can read the whole piece,
# * `"ask"` if it cannot, but was finished (accepting) somewhere on the way, before the first byte too: the rest of the
#   piece then belongs to what lies below,
# * `"no"` otherwise.

# %%
def sort_token(rule, state, piece):
    # solution:
    finished = rule.is_accepting(state)
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "ask" if finished else "no"
        finished = finished or rule.is_accepting(state)
    return "yes"
    # open:
    # ...  # rule.step(state, byte) gives None where the rule cannot read it
    # end


gv.checks.sort_token(sort_token)

# %% [markdown]
# Now the 4,096 tokens of `clerk`, sorted by your function, and beside it by the library: `gv.build_split` does this for
# every node of a grammar, rules in rules included, by one walk of the trie. (With two of its ideas switched off. They
# come soon.)

# %%
clerk = gv.load_model("clerk")
clerks = clerk.vocabulary
plain = gv.build_split(nested, clerks, inline=False, expand=False)
node = nested.places(after(nested, b'["a'))[0]

# %%
def sort_all():
    word = gv.regex('"[a-z]+"')
    said = [sort_token(word, after(word, b'"a'), clerks.pieces[token]) for token in clerks.text_ids]
    print("yours:", {answer: said.count(answer) for answer in ("yes", "no", "ask")})
    print("split:", plain.node(node))


# %% [question]
gv.predict(
    "How many of the 4,096 tokens ask?",
    number=lambda: len(plain.node(node).ask),
    within=15,
    reveal=[
        sort_all,
        """Fifteen, less than half a percent. (The split counts EOS among the illegal, you have left it out. As long as
        the exercise is open, yours counts 0.)""",
    ],
)

# %% [markdown]
# Here are the tokens on the map of lab 04: the sea is surely legal, the land surely not, and the golden cells ask.

# %% [predict]
gv.draw_split(plain, node, title="in a string, after a letter: who asks?")

# %%
print(*[clerks.display(token) for token in plain.node(node).ask])

# %% [markdown]
# ### Expansion
#
# Look at `"The` and `"A`. After eight texts `"A` was never legal, and yet it asks: the rule does not know what lies
# below. But *we* know the grammar. After a string comes a colon, a comma, a bracket that closes, or the end; nowhere a
# letter. So whatever the stack is, these two are illegal.

# %%
split = gv.build_split(nested, clerks, inline=False)

# %% [question]
gv.predict(
    "Keep only those of the fifteen that some node of the grammar could go on with. How many are left?",
    number=lambda: len(split.node(node).ask),
    within=1,
    reveal=[
        lambda: print(*[clerks.display(token) for token in split.node(node).ask]),
        """Eight. (A line break is no blank in this grammar, so all seven with `↵`, `A` or `The` are gone.) This is
        context expansion: follow every call of the rule, see what may come next, and drop what none of them takes.
        Of these eight one cannot know more without the stack.""",
    ],
)

# %% [markdown]
# ## 3 · The experiment, whole
#
# Every node of the grammar, once, before the first token is written (16 of the 20: at the four ends nothing can be
# read):

# %%
gv.views.draw_split_nodes(split)

# %%
asks, cells = sum(len(part.ask) for part in split.build()), len(split.build()) * len(clerks)
print(f"{asks} of {len(split.build())} × {len(clerks):,} cells ask: {asks / cells:.3%}")

# %% [markdown]
# At run time a mask is then: take the sure ones as they were kept, and read only those that ask on the real stack. Is
# that the same mask? `clerk` writes eight texts, and before each token we read every piece byte by byte and compare.

# %%
shelf = "Hi! The red shelf holds a piano and a kettle.\nJSON list in JSON:\n"
guide, same = gv.tokens.split_guide(split), []
for seed in range(8):
    state, run = guide.initial, gv.record(clerk, shelf, guide, seed=seed)
    for step in run.steps:
        same.append((split.mask(state) == ask_all(nested, state, clerks)[0]).all())
        state = guide.advance(state, step.token)
print(sum(same), "of", len(same), "masks are the same in all", len(clerks), "bits; the last text:", run.text)

# %% [markdown]
# **What breaks.** Of 65,536 cells 16 ask, and no bit is wrong. So few: could one ask nobody, and let pass whatever
# *may* be legal? Two in ten thousand are a small mistake. `check=False` is that mistake.

# %%
def write(split, seed):
    """The loop of lab 02 with the masks of a split. It ends early where the machine cannot read what was written."""
    tokens, written, state = clerk.encode(shelf), b"", split.pda.initial
    for position in range(60):
        logits = gv.sampling.apply_mask(clerk.logits(tokens), split.mask(state))
        token = gv.sampling.sample(gv.sampling.softmax(logits), seed=seed, position=position)
        state = None if token in clerks.eos else after(split.pda, clerks.pieces[token], state)
        tokens, written = [*tokens, token], written + clerks.pieces[token] * (token not in clerks.eos)
        if state is None:
            break
    return written.decode()

# %%
def judge(text):
    """What Python's reader of JSON says."""
    try:
        json.loads(text)
        return "JSON"
    except json.JSONDecodeError as error:
        return f"no JSON: {error}"

# %%
careless = gv.build_split(nested, clerks, inline=False, check=False)


def show_careless():
    for seed in range(8):
        text = write(careless, seed)
        print(f"{text:42} {judge(text)}")


# %% [question]
gv.predict(
    "The careless split writes eight texts. How many of them are broken?",
    number=2,
    within=1,
    reveal=[
        show_careless,
        """Two of eight, both at a comma after what was meant as a key: `",` is right after a string in a list, and the
        careless split cannot tell the two apart. One wrong cell is enough: from there on no machine can say what
        should follow. Those that ask are few, but they are the ones that count.""",
    ],
)

# %% [markdown]
# The same node in the right split, with the answer of the stack: orange cells asked and were refused.

# %%
gv.draw_split(split, '[{"name')

# %% [markdown]
# Now let it hold the pen, on nested JSON and the whole grammar of RFC 8259:

# %%
boxes = "Hi! The piano holds a kettle, which holds a wallet, which holds a lemon, which holds a ring.\nNested JSON:\n"
guide = gv.guide(gv.json(), clerks)
gv.stage(clerk, boxes, guide, seed=1, constraint="JSON", show=15)

# %% [markdown]
# Which of its masks needed the stack? Type some of the text that you see above: golden cells have asked and are legal,
# orange ones have asked and are not. Where does nobody ask? Where do most?

# %%
gv.vocabulary_map(guide, text='{"piano": {"kettle', stack=True)

# %% [markdown]
# Inside a string thirteen ask, and nowhere else in this text does any. In a key the stack lets one of them pass, `":`;
# in the last value ten, for there brackets may close. More is not asked in any step: what is blue or grey was known
# before the first token.

# %% [markdown]
# ### At several nodes at once
#
# After `{"a": 1` the number may go on, or it is over and the object goes on. The machine is at two nodes, and each
# knows something of every token.
#
# Your `sort_token` would say *ask* for nearly all tokens after `1`, since the number may be over before the first byte.
# The library does not count that here: a finished rule is popped at once, so the machine already stands at the object's
# node as well. "No" at a node means: not from *this* node. The other one may still say yes.

# %%
json_split = gv.build_split(gv.json(), clerks, inline=False)
for place in gv.json().places(after(gv.json(), b'{"a": 1')):
    print(gv.json().nodes.name_of(place), json_split.node(place))

# %% [markdown]
# ## Exercise 2 · Put them together ★★
#
# Write `merge(parts)`. Each part is a pair of sets of ids: those that are surely legal at one node, and those that ask
# there. Give such a pair for all nodes together. A token is legal if it is legal at *one* of them.

# %%
def merge(parts):
    # solution:
    yes, ask = set(), set()
    for sure, asking in parts:
        yes |= sure
        ask |= asking
    return yes, ask - yes
    # open:
    # ...  # what is sure at one node need not ask at another
    # end


gv.checks.merge(merge)

# %% [markdown]
# This is what Algorithm 1 of the XGrammar paper does. (There it works on the lists as they are kept, so that not all
# 128,256 tokens have to be touched.)

# %% [markdown]
# ## 4 · JSON on Llama 3
#
# Now at full size. Two ideas can be switched on: `inline` puts the text of a rule in the place of its call, wherever
# the rule cannot come to stand inside itself; `expand` is the context expansion.

# %%
def count(name, split):
    """A line about a split: its nodes, who asks in a string, and what is kept."""
    parts = split.build()
    asks = {part.node: len(part.ask) for part in parts}
    (node,) = split.pda.places(after(split.pda, b'"'))
    print(f"{name:15}{len(parts)} nodes, {sum(map(bool, asks.values())):2} ask; in a string {asks[node]:5,}", end="")
    print(f", most {max(asks.values()):6,}, in all {sum(asks.values()):7,}; {split.nbytes:7,} bytes")


# %%
written = gv.build_split(gv.json(), llama, inline=False, expand=False)
full = gv.build_split(gv.json(), llama)


def count_all():
    count("as written", written)
    count("expanded", gv.build_split(gv.json(), llama, inline=False))
    count("inlined", gv.build_split(gv.json(), llama, expand=False))
    count("both", full)


# %% [question]
gv.predict(
    "Inside a string 1,151 of the 128,256 tokens ask. How many still ask with both ideas switched on?",
    number=169,
    within=100,
    reveal=[
        count_all,
        """Inside a string 1,151 ask; with expansion 195, and with inlining too 169. (That is a string that is a value.
        Once rules are inlined a key has a node of its own, and its rule goes on with the colon. There only 2 are
        left, `":"","` and one like it, which go on after the value.)""",
    ],
)

# %% [markdown]
# Here are thirty tokens that ask without expansion, and no longer ask with it:

# %%
before, kept = (split.node(*split.pda.places(after(split.pda, b'"'))).ask for split in (written, full))
print(*[llama.display(token) for token in before if token not in kept][300:330])

# %% [markdown]
# The end of a string in a program, and what may stand there. In JSON none of it can follow.
#
# Without expansion it is far worse, 58,824, where blanks are read and then the rule may be over. A token that begins
# with a blank and goes on leaves the rule, and nothing is known of what comes then.

# %%
gv.views.draw_split_nodes(full)

# %% [markdown]
# ### The numbers of the paper
#
# | | paper | here |
# | --- | ---: | ---: |
# | tokens that ask, no expansion | 1,134 | 1,151 |
# | tokens that ask, expanded and inlined | 120 | 169 |
# | kept in memory | 0.46 MB | 0.19 MB |
# | a full table | 160 MB | 0.91 MB |
#
# The first pair nearly agrees, the others do not. (The paper's vocabulary is Llama-3.1's. The counts here are those
# inside a string, which come nearest.) What is left we cannot explain without the paper's text of JSON, which we do not
# have. But one thing can be tried: RFC 8259 allows as many blanks as you like.

# %%
base = gv.json().grammar.text.split("ws     ::=")[0]


def count_blanks():
    for name, blanks in {"RFC 8259": r"[ \t\n\r]*", "space, newline": r"[ \n]*", "one": '" "?', "none": '""'}.items():
        made = gv.grammar(f"{base}ws ::= {blanks}")
        count(name, gv.build_split(made, llama, expand=False))
        count("  and expanded", gv.build_split(made, llama))


# %% [question]
gv.predict(
    "If the grammar allows fewer blanks, which count inside a string changes?",
    choices=["the one without expansion", "the one with expansion", "both", "neither"],
    answer="the one with expansion",
    reveal=[
        count_blanks,
        """Without expansion it is 1,151 each time. What asks after expansion is a matter of what the grammar lets
        follow: 75 to 169, and the 120 of the paper lie between. So a count like that belongs to one grammar, blanks
        and all.""",
    ],
)

# %% [markdown]
# The full table: a bit for each of our 57 nodes and each token makes 0.91 MB. With 160 MB one could keep 10,000 such
# rows, so the paper counts another table than this; which, our numbers cannot tell.

# %% [markdown]
# ## Exercise 3 · The smallest heap ★★
#
# How does one keep the surely legal tokens of a node? As a list of ids, four bytes each; as a list of the ids that are
# *not* in it; or as a bit for every token of the vocabulary. Write `storage(count, size)`: of `size` tokens `count` are
# in the set. Take the kind (`"accepted"`, `"rejected"` or `"bits"`) that needs the fewest bytes. Return the pair: the
# kind, and its bytes.
#
# (In the tables above a token that asks takes eight more.)

# %%
def storage(count, size):
    # solution:
    kinds = {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": (size + 7) // 8}
    kind = min(kinds, key=kinds.get)
    return kind, kinds[kind]
    # open:
    # ...  # eight bits are a byte, and nothing takes half a byte
    # end


gv.checks.storage(storage)

# %%
angles = gv.build_split(gv.grammar('root ::= "<" ([^<>] | root)* ">"'), llama)


def count_kinds():
    for name, made in {"JSON": full, "text in < >": angles}.items():
        kinds = [part.sure.kind for part in made.build()]
        print(f"{name:12}", {kind: kinds.count(kind) for kind in ("accepted", "rejected", "bits")})


# %% [question]
gv.predict(
    "For JSON, which kind is used most often?",
    choices=["accepted", "rejected", "bits"],
    answer="accepted",
    reveal=[
        count_kinds,
        """A list of ids is shorter than the bits up to one token in 32. Nearly every node of JSON has fewer. In a
        string 96 % of the tokens are legal, and the other 4 % are still too many to be listed; where nearly all
        text is allowed they are not. That is the adaptive storage of the paper.""",
    ],
)

# %% [markdown]
# ### What an engine keeps
#
# xgrammar lets you look at what it keeps. For each node of a rule there is a set of tokens that it calls *uncertain*,
# as numbers into its sorted vocabulary. We give it the same grammar, and read them.

# %%
info, theirs = None, {}
if xgrammar:
    spelled = [b"" if token in llama.special - llama.eos else piece for token, piece in enumerate(llama.pieces)]
    info = xgrammar.TokenizerInfo(spelled, stop_token_ids=sorted(llama.eos))
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    theirs["the text of RFC 8259"] = compiler.compile_grammar(gv.json().grammar.text)
    theirs["a text of its own"] = compiler.compile_builtin_json_grammar()

# %%
def uncertain(compiled):
    """For each node that xgrammar keeps: its rule, and the tokens it calls uncertain."""
    kept, ids = json.loads(compiled.serialize_json()), json.loads(info.serialize_json())["sorted_decoded_vocab"]
    rules = [rule[0] for rule in kept["grammar"]["rules"]]
    for node, entry in kept["adaptive_token_mask_cache"]:
        yield rules[node[0]], frozenset(ids[index][0] for index in entry["uncertain_indices"])

# %%
def microseconds(compiled):
    """How long it takes for a mask inside a string, the best of ten."""
    matcher, words = xgrammar.GrammarMatcher(compiled), xgrammar.allocate_token_bitmask(1, len(llama))
    matcher.accept_string('{"piano')
    times = []
    for _ in range(10):
        began = time.perf_counter()
        matcher.fill_next_token_bitmask(words)
        times.append(1e6 * (time.perf_counter() - began))
    return min(times)

# %%
ours = {frozenset(part.ask.tolist()) for part in written.build()}


def compare(most=8):
    for name, compiled in theirs.items():
        nodes = sorted((node for node in uncertain(compiled) if node[1]), key=lambda node: -len(node[1]))
        shared = sum(tokens in ours for _, tokens in nodes)
        print(f"{name}: {len(nodes)} nodes ask, {shared} as ours; {microseconds(compiled):,.0f} µs a mask in a string")
        for rule, tokens in nodes[:most]:
            print(f"    {rule:16}{len(tokens):8,}", "the same ask at a node of ours" * (tokens in ours))
    print(f"xgrammar {'is' if xgrammar else 'is not'} installed here")


# %% [question]
# NBVAL_IGNORE_OUTPUT
gv.predict(
    "Compare its sets of uncertain tokens with ours as written, without expansion. Of its 24 sets, how many are "
    "token for token one of ours?",
    number=18,
    within=4,
    reveal=[
        compare,
        """Measured with xgrammar 0.2.8: of its 24 nodes with uncertain tokens 18 have, token for token, one of our
        sets without expansion. So for these rules 0.2.8 expands nothing by itself. The six others have 121,060,
        423, 207, 13, 3 and 2.""",
    ],
)

# %% [markdown]
# **What breaks.** 121,060 at one node of a string. Its name, `string_1_1`, tells why: the part that is repeated has
# become a rule of its own. Such a rule ends after *one* character, and whatever is longer asks. Let us do the same to
# ours.

# %%
text = gv.json().grammar.text.replace(r'([^"\\\x00-\x1F] | "\\" escape)*', "char*")
text += r'char   ::= [^"\\\x00-\x1F] | "\\" escape'
for inline in (False, True):
    made = gv.build_split(gv.grammar(text), llama, inline=inline, expand=False)
    print(max((part for part in made.build() if part.sure.count > 1000), key=lambda part: len(part.ask)))

# %% [markdown]
# There they are, the same 121,060 tokens, and with `inline` they are gone. xgrammar keeps that set as well, and needs
# 40,000 µs for a mask inside a string. Its own text for JSON, with objects and lists only at the root, takes 5: there
# a rule reads a string *and* what comes after it, and behind most rules stands what may follow. So **how a grammar is
# written can matter more than which engine runs it**.
#
# (Since version 0.1.21 xgrammar parses with Earley, not with the stacks of the paper. The heaps it keeps are of the
# same kind.)

# %% [markdown]
# ### What each idea is worth
#
# Along one text, before each of its characters: how many tokens have to be read on the real stack?

# %%
text = b'{"piano": {"kettle": ["wallet", 1.5, true]}, "lamp": "a\\n\\u00e9"}'


def count_asking(split):
    """How many tokens ask, on average over the text."""
    states = [after(split.pda, text[:end]) for end in range(len(text) + 1)]
    return float(np.mean([(split.answers(state) == 2).sum() for state in states]))

# %%
inlined = gv.build_split(gv.json(), llama, expand=False)


def show_worth():
    print(f"nothing kept        {len(llama):9,}")
    for name, made in {"sure ones kept": written, "and inlined": inlined, "and expanded": full}.items():
        print(f"{name:20}{count_asking(made):9,.0f}")


# %% [question]
gv.predict(
    "If nothing is kept, all 128,256 tokens ask at each step. Which idea saves the largest factor?",
    choices=["to keep what is sure", "to inline", "to expand"],
    answer="to expand",
    reveal=[show_worth, "Each step is a factor: about 18, 6 and 29."],
)

# %% [markdown]
# The paper measured a mask in the same order, in milliseconds:
#
# | | paper, ms |
# | --- | ---: |
# | every token at every step | 65.8 |
# | nodes that are alike merged | 38.3 |
# | sure ones kept | 0.154 |
# | inlined | 0.035 |
# | expanded | 0.018 |
#
# (Alike nodes are merged as states are in lab 04; our machine is built that way.) By the number of tokens that ask,
# expansion saves most; in the paper's times it is the keeping (38.3 to 0.154): a mask takes its time however few ask,
# for what was kept has to be copied. For times from your computer beside these, run `python -m guidedviz.bench
# ablation` in a terminal.

# %% [markdown]
# ## 5 · Back, and at the same time
#
# Two more things the paper counts on. First **rollback**: to take back tokens that were written. An engine that guesses
# several tokens ahead, or a person who goes back on the stage, needs the state of some tokens ago.

# %%
history = [gv.json().initial]
for _ in range(10_000):
    history.append(gv.json().step(history[-1], ord("[")))


def go_back(steps):
    back = history[-1 - steps]
    print(gv.json().depth(history[-1]), "open rules,", gv.json().depth(back), "after going back")
    print("and another way on:", gv.json().stack(after(gv.json(), b'{"a', back))[:3])


# %% [question]
gv.predict(
    "Ten thousand brackets are open, and we want to go back by four thousand. What has to be copied, or undone?",
    choices=["four thousand frames", "six thousand frames", "nothing"],
    answer="nothing",
    reveal=[
        lambda: go_back(4000),
        "Nothing: the old state is still there. (Ten thousand lists are open, and the root is one more.)",
    ],
)

# %% [markdown]
# No stack is ever changed; such data is called
# *persistent*. A push makes one new frame, which points to the old ones. Whoever keeps an old state has all of it, and
# all futures that begin there share it. Here are four, and a step back:

# %%
gv.views.draw_branches(nested, ['[{"a": ', '[{"a": "b"', '[{"a": [', '[{"a": {', '[{"a": '])

# %% [markdown]
# ### Overlap
#
# Where does the time of a step go? Here it is for `clerk`, token by token. (Draw it again and it looks different: these
# are milliseconds of your computer.)

# %%
gv.draw_costs(gv.record(clerk, boxes, gv.guide(gv.json(), clerks), seed=1))

# %% [markdown]
# The forward pass, which makes the logits, needs the tokens so far. So does the mask: neither needs the other, and they
# meet only where a token is drawn. So one can work out the mask *while* the model works out the logits.
#
# Here is a record of both, on one CPU, with a small model of 37 million random weights, for only its times matter. The
# masks are made by the walk of lab 09, which keeps no split and takes a little longer, so that there is something to
# see.

# %%
overlap = gv.decoding.Overlap.load(gv.files.shipped("traces/overlap-cpu.json"))

# %% [question]
gv.predict(
    "When both go on at the same time, how many milliseconds do the logits wait for their mask?",
    choices=["as long as the mask takes, 0.9 ms", "half as long", "not at all"],
    answer="not at all",
    reveal=[
        lambda: gv.views.draw_overlap(overlap, "trie"),
        """Not at all, as long as the mask is there first. One by one they wait for all of it, and for the handing
        over.""",
    ],
)

# %% [markdown]
# (In this
# record one computer does both, so that each slows the other down, and a step gains less than the wait was. A graphics
# card is a computer of its own.) Overlap is the last idea of the paper, and it needs the others: a mask that takes
# longer than the forward pass would still be waited for.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * The stack has no end, the nodes are few: ask the nodes once, before the first token.
# * A token is sure if its rule reads all of it, or cannot read it and was not finished on the way. Else what lies below
#   decides.
# * Expansion looks at what may follow a rule; inlining lets fewer rules end.
# * The few that ask must be asked: without that check wrong JSON comes out.
# * A count belongs to a grammar *as it is written*, and to a vocabulary.
# * Stacks that are never changed make a step back free.

# %% [markdown]
# Next: the other road. No table at all, walk the trie at every step and be clever about what to skip: that is
# llguidance, and [lab 09](09_walk_the_trie.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **XGrammar**: Dong et al., *XGrammar: Flexible and Efficient Structured Generation Engine for Large Language
#   Models*, arXiv 2411.15100 (2024): the split (there: context-independent and context-dependent tokens), the adaptive
#   storage, context expansion, the persistent stack, overlap. All numbers called the paper's are from there.
# * **xgrammar** 0.2.8, `CompiledGrammar.serialize_json()`: what section 4 reads. Its Earley parser came with pull
#   request 308 of mlc-ai/xgrammar (2025).

# %% [markdown]
# * **vLLM**, **SGLang** and **TensorRT-LLM** can run xgrammar; the grammar comes with the request: vLLM
#   `structured_outputs={"grammar": …}`, SGLang `ebnf`, TensorRT-LLM `GuidedDecodingParams(grammar=…)`.
# * Several stacks that share what they can: Tomita, *Efficient Parsing for Natural Language* (1985).
# * Data that is never changed, and costs no copy: Driscoll, Sarnak, Sleator and Tarjan, *Making data structures
#   persistent*, Journal of Computer and System Sciences 38 (1989).
