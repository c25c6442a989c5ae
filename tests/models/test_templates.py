"""Claims about running chat templates: usual ones give the text of transformers, and hostile ones end soon."""

import tracemalloc

import pytest

import guidedviz as gv
from guidedviz.models.chat import MADE, render
from guidedviz.models.load import embedded_folder

TALK = [
    {"role": "user", "content": "  Ada is 36.\n\nJSON with name, age:\n"},
    {"role": "assistant", "content": '<think>\nshort\n</think>\n{"name": "Ada", "age": 36}'},
    {"role": "user", "content": "And Bob, 7?"},
]
USUAL = {  # in the way of Gemma, Llama 3.1, Qwen 3 and Mistral
    "gemma": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}
{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('roles must alternate') }}{% endif %}{% if message['role'] == 'assistant' %}{% set role = 'model' %}
{% else %}{% set role = message['role'] %}{% endif %}
{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}""",
    "llama": """{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if not date_string is defined %}{%- if strftime_now is defined %}
{%- set date_string = strftime_now("%d %b %Y") %}{%- endif %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content']|trim %}
{%- set messages = messages[1:] %}{%- else %}{%- set system_message = "" %}{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined %}{{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ")
+ "\\n\\n"}}{%- endif %}
{{- "Today Date: " ~ (date_string | length) ~ "\\n" }}{{- system_message }}{{- "<|eot_id|>" }}
{%- for message in messages %}
{%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
{%- endif %}{%- endfor %}""",
    "qwen": """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}{%- set index = (messages|length - 1) - loop.index0 %}
{%- if ns.multi_step_tool and message.role == "user" and message.content is string
and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
{%- set ns.multi_step_tool = false %}{%- set ns.last_query_index = index %}{%- endif %}{%- endfor %}
{%- for message in messages %}{%- if message.content is string %}{%- set content = message.content %}
{%- else %}{%- set content = '' %}{%- endif %}
{%- if message.role == "assistant" %}{%- set reasoning_content = '' %}
{%- if message.reasoning_content is string %}{%- set reasoning_content = message.reasoning_content %}
{%- else %}{%- if '</think>' in content %}
{%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}{%- endif %}
{%- if loop.index0 > ns.last_query_index %}{{- reasoning_content }}
{%- endif %}{{- '<|im_start|>' + message.role + '\\n' + content }}{%- if message.tool_calls %}
{%- for t in message.tool_calls %}{%- endfor %}{%- endif %}{{- '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}{%- endif %}
{%- endfor %}
{%- if enable_thinking is defined and enable_thinking is false %}{{- 'x' }}{%- endif %}""",
    "mistral": """{%- if messages[0]["role"] == "system" %}{%- set system_message = messages[0]["content"] %}
{%- set loop_messages = messages[1:] %}{%- else %}{%- set loop_messages = messages %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}{%- set ns.index = 0 %}
{%- for message in loop_messages %}
{%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
{%- if (message["role"] == "user") != (ns.index % 2 == 0) %}{{- raise_exception("alt") }}{%- endif %}
{%- set ns.index = ns.index + 1 %}{%- endif %}{%- endfor %}
{{- bos_token }}{%- for message in loop_messages %}{%- if message["role"] == "user" %}
{%- if loop.last and message == user_messages[-1] %}{{- "[AVAILABLE]" }}
{%- endif %}{{- "[INST] " + message["content"] + "[/INST]" }}
{%- elif message["role"] == "assistant" %}{{- " " + message["content"]|trim + eos_token}}{%- endif %}
{%- endfor %}""",
    "other parts": """{%- set ns = namespace(seen=false) -%}
{%- macro show(m) %}{{ m['content'].strip() | trim }}{% endmacro -%}
{{- bos_token }}{% for m in messages -%}
[{{ m.role | upper ~ ':' ~ loop.index }}] {{ show(m) }}{{ ', ' if not loop.last }}
{%- set ns.seen = true %}{% endfor %}{{ ns.seen }} {{ {'a': [1, 'é']} | tojson }} {{ messages | length * 2 }}
{%- for key, value in messages[0].items() %} {{ key }}{% endfor %} {{ 'a,b'.split(',')[-1].replace('b', 'c') }}
{%- set text %}{{ ns.seen }}{{ [1, (2, 3)] }}{% endset %}{{ text | replace('T', 't') }}{{ ','.join(['a', 'b']) }}""",
}


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("length", [1, 3])
def test_usual_templates_give_the_text_of_transformers(name, length):
    from transformers import PreTrainedTokenizerFast

    names = {"bos_token": "<s>", "eos_token": "</s>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(embedded_folder("clerk") / "tokenizer.json"), **names)
    more = {"chat_template": USUAL[name], "builtin_tools": ["a", "code_interpreter", "b"]}
    wanted = tokenizer.apply_chat_template(TALK[:length], tokenize=False, add_generation_prompt=True, **more)
    given = {"messages": TALK[:length], "add_generation_prompt": True, "builtin_tools": more["builtin_tools"]}
    assert render(USUAL[name], **given, **names) == wanted


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{{ messages.__class__.__mro__ }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ raise_exception('roles must alternate') }}",
        "{% if %}",
        "{{ nothing.of.this }}",
        "{{ 'x' * 10 ** 9 }}",
        "{{ 'x' | center(10 ** 9) }}",
        "{% include '/etc/passwd' %}",
        "{{ 'x'.ljust(10 ** 9) }}",
        "{{ 'x'['lju' + 'st'](999999999) }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ (1).to_bytes(999999999, 'big') }}",
        "{{ lipsum(999999) }}",
        "{{ 'x' | indent(999999999) }}",
        "{{ 9 | round(999999999) }}",
        "{{ 'x' * 99 }}",
        "{{ [1] * 99 }}",
        "{" * 70_000,
        "{{ " + "(" * 9_000 + ")" * 9_000 + " }}",
    ],
)
def test_a_hostile_template_is_refused(source):
    with pytest.raises(gv.ModelError, match=r"model\.chat: saw .*expected"):
        render(source, messages=TALK)


LOOP = "{%% set ns = namespace(x='ab', y=['a']) %%}{%% for i in range(99999) %%}%s{%% endfor %%}{{ ns.x }}"
DOUBLING = {
    "plus": "{% set ns.x = ns.x + ns.x %}",
    "tilde": "{% set ns.x = ns.x ~ ns.x %}",
    "join": "{% set ns.x = [ns.x, ns.x] | join %}",
    "join with": "{% set ns.x = 'aaaa' | list | join(ns.x) %}",
    "method join": "{% set ns.x = ns.x.join('aaa') %}",
    "replace": "{% set ns.x = ns.x | replace('a', ns.x) %}",
    "method replace": "{% set ns.x = ns.x.replace('b', ns.x) %}",
    "block": "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}",
    "macro": "{% macro f(z) %}{{ z }}{{ z }}{% endmacro %}{% set ns.x = f(ns.x) %}",
    "output": "{{ ns.x }}{% set ns.x = ns.x + 'a' %}",
    "lists": "{% set ns.y = ns.y + ns.y %}",
    "lists of lists": "{% set ns.y = [ns.y, ns.y] %}",
    "tuples": "{% set ns.y = (ns.y, ns.y) %}",
    "objects": "{% set ns.y = {'a': ns.y, 'b': ns.y} %}",
    "slices": "{% set ns.x = (ns.x + ns.x)[1:] %}",
    "upper": "{% set ns.y = ns.y + [(ns.x ~ i) | upper] %}{% set ns.x = ns.x + 'abcdefgh' %}",
    "numbers": "{% set ns.n = (ns.n or 3) * (ns.n or 3) %}",
    "json": "{% set ns.x = ns.x | tojson | tojson %}",
    "text of a list": "{% set ns.x = ns.y | string %}{% set ns.y = ns.y + [ns.x] %}",
    "equal": "{% set ns.y = [ns.y, ns.y] %}{% if ns.y == [ns.y] %}{% endif %}",
}


@pytest.mark.parametrize("name", DOUBLING)
def test_a_text_that_doubles_ends_before_it_takes_memory(name):
    tracemalloc.start()
    try:
        with pytest.raises(gv.ModelError, match=r"model\.chat: saw (a template that|an operator)"):
            render(LOOP % DOUBLING[name], messages=TALK)
        assert tracemalloc.get_traced_memory()[1] < 12 * MADE
    finally:
        tracemalloc.stop()


def test_a_long_conversation_and_a_long_template_are_in_the_bounds():
    source = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + m['content'] }}{% endfor %}" + "{# long #}" * 5_000
    long = [{"role": "user", "content": "word " * 4_000}, TALK[1]] * 25
    assert len(render(source, messages=long)) > 490_000


def test_each_run_pays_for_itself_only():
    source = "{% for m in messages %}{{ m.content + m.content }}{% endfor %}"
    with pytest.raises(gv.ModelError, match="a template that makes more than"):
        render(source, messages=[{"content": "x" * MADE}])
    for _ in range(3):
        assert len(render(source, messages=[{"content": "x" * (1 << 18)}])) == 1 << 19
