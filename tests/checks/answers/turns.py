"""Answers to the exercises on turns: wrong ones, and unusual right ones."""

import numpy as np


def counted_from_the_end(mask, written, begin, end, most):
    """Reads the turn backwards until the begin of the thought."""
    count = 0
    for token in reversed(written):
        if token == end:
            return mask
        if token == begin:
            break
        count += 1
    else:
        if begin is not None:
            return mask
    return [token == end for token in range(len(mask))] if count >= most and mask[end] else mask


def budget_by_position(mask, written, begin, end, most):
    """Counts the whole turn."""
    return np.arange(len(mask)) == end if len(written) > most else mask


def rules_of_strings(choice):
    if choice == "auto":
        return r'thought text | thought text call ("\n" call)*'
    if choice == "required":
        return 'thought calls\ncalls ::= call | call "\\n" calls'
    return f"(thought {'text' if choice == 'none' else choice})"


def rules_of_two_tools(choice):
    """A table of all choices, which knows the tools of the lab and no others."""
    calls = r'call ("\n" call)*'
    rest = {"auto": f"text ({calls})?", "required": calls, "none": "text", "find": "find", "plus": "plus"}
    return f"thought {rest[choice]}"


def agent_by_recursion(ask, tools, messages, rounds):
    if not rounds:
        return None
    reply = ask(messages)
    results = []
    for call in reply.calls:
        try:
            results.append({"role": "tool", "content": f"{tools[call.name](**call.arguments)}"})
        except Exception as error:
            results.append({"role": "tool", "content": f"Error ({type(error).__name__})"})
    if not results:
        return reply.text
    return agent_by_recursion(ask, tools, (*messages, reply.message, *results), rounds - 1)


def agent_of_one_tool(ask, tools, messages, rounds):
    """Runs the first call of a turn only."""
    for _ in range(rounds):
        reply = ask(messages)
        if not reply.calls:
            return reply.text
        call = reply.calls[0]
        try:
            result = str(tools[call.name](**call.arguments))
        except Exception as error:
            result = f"error: {error}"
        messages = [*messages, reply.message, {"role": "tool", "content": result}]
    return None


def agent_that_gives_up(ask, tools, messages, rounds):
    """Ends with the error of a tool."""
    for _ in range(rounds):
        reply = ask(messages)
        messages = [*messages, reply.message]
        if not reply.calls:
            return reply.text
        for call in reply.calls:
            try:
                result = str(tools[call.name](**call.arguments))
            except Exception as error:
                return f"error: {error}"
            messages = [*messages, {"role": "tool", "content": result}]
    return None


CATCH = "except Exception as error"
STARTED = "(begin is not None and begin not in written)"
TOOK = 'messages = [*messages, {"role": "tool", "content": result}]'
WRONG = {
    "budget_mask": [
        budget_by_position,
        ("if end in written or ", "if "),
        (f" or {STARTED}", ""),
        ("< most", "<= most", "!= most"),
        (" or not mask[end]", ""),
        ("written.index(begin) + 1", "written.index(begin)", "0"),
        ("0 if begin is None else", "len(written) if begin is None else"),
        (STARTED, "begin not in written"),
        (STARTED, "begin and begin not in written"),
        ("0 if begin is None else", "0 if not begin else"),
        ("np.arange(len(mask)) == end", "np.arange(len(mask)) != end", "mask & (np.arange(len(mask)) != end)"),
        ("np.arange(len(mask)) == end", "{end}"),
        ("        return mask\n    start", "        return np.ones(len(mask), bool)\n    start"),
    ],
    "turn_rule": [
        lambda choice: "thought text",
        lambda choice: f"root ::= thought {choice}",
        ("text ({calls})?", "text {calls}", "text call?", "(text | {calls})", "text?", "text (call*)"),
        (r'call ("\n" call)*', "call", "call+", "call*", r'call ("\n"? call)*', r'call ("\n" call)?'),
        (r'call ("\n" call)*', r'call (call "\n")*', r'(call "\n")*', r'call "\n" call'),
        ('"none": "text"', '"none": ""', '"none": "text call?"'),
        ('"required": calls', '"required": "text " + calls', '"required": f"({calls})?"'),
        ('"thought " + ', '"thought? " + ', ""),
        ("rules.get(choice, choice)", "rules.get(choice, 'call')", "rules.get(choice, calls)", "rules[choice]"),
        lambda choice: f'thought {choice} ("\\n" {choice})*' if choice in ("find", "plus") else "thought text",
    ],
    "agent": [
        agent_of_one_tool,
        agent_that_gives_up,
        lambda ask, tools, messages, rounds: ask(messages).text,
        ("messages = [*messages, reply.message]", "messages.append(reply.message)", "pass"),
        (TOOK, 'messages = [*messages, {"role": "user", "content": result}]', "pass"),
        (TOOK, 'messages = [{"role": "tool", "content": result}, *messages]'),
        (TOOK, 'messages = [{"role": "tool", "content": result}]'),
        ("str(tools", "(tools", "__import__('json').dumps(tools"),
        ("return reply.text", "return reply", "return messages"),
        ("if not reply.calls:", "if reply.text:"),
        ("range(rounds)", "range(rounds + 1)", "range(1)", "range(8)"),
        (CATCH, "except RuntimeError as error", "except KeyError as error", "except (KeyError, TypeError) as error"),
        ('f"error: {error}"', '""', "str(error)", "repr(error)"),
        ("(**call.arguments)", "(*call.arguments)", "(call.arguments)", "(*call.arguments.values())"),
    ],
}
UNUSUAL = {
    "budget_mask": [counted_from_the_end, ("< most", "< max(most, 0)")],
    "turn_rule": [
        rules_of_strings,
        rules_of_two_tools,
        ("text ({calls})?", "(text | text {calls})"),
        ('"thought "', '" thought  "'),
    ],
    "agent": [agent_by_recursion, ('f"error: {error}"', 'f"Error: {error!r}"'), ("range(rounds)", "[None] * rounds")],
}
