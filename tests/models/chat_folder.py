"""A folder of a chat model for tests: clerk's, with special tokens in the place of its last three, and a template."""

import json
import shutil

from guidedviz.models.load import embedded_folder

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
NAMES = ("<|im_start|>", "<|im_end|>", "<|stop|>")  # 4093, 4094, 4095
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


def build_folder(folder, names=NAMES):
    """The settings name the first and the last id as ends."""
    shutil.copytree(embedded_folder("clerk"), folder)
    words = json.loads((folder / "tokenizer.json").read_text())
    model = words["model"]
    first = 4096 - len(names)
    vocab = {text: token for text, token in model["vocab"].items() if token < first}
    merges = [pair for pair in model["merges"] if "".join(pair) in vocab]
    model |= {"vocab": vocab, "merges": merges}
    for token, name in enumerate(names, first):
        vocab[name] = token
        words["added_tokens"].append({"id": token, "content": name, "special": True, **FLAGS})
    config = json.loads((folder / "tokenizer_config.json").read_text()) | {"chat_template": CHATML}
    files = {"tokenizer": words, "tokenizer_config": config, "generation_config": {"eos_token_id": [0, 4095]}}
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder
