"""A model that transformers has loaded: the same weights, on their device and in their type, without a copy."""

from typing import Any

from guidedviz.errors import ModelError, quoted
from guidedviz.models.chat import ChatTemplate, Encoder
from guidedviz.models.hub import PlainText, TorchNetwork
from guidedviz.models.language_model import LanguageModel, Network
from guidedviz.tokens.vocabulary import Vocabulary

HOW_TO_LOAD = "gv.load_model(model, tokenizer), both as transformers' from_pretrained gives them"


def take_loaded(model: Any, tokenizer: Any) -> LanguageModel:
    """The model of transformers and its tokenizer as a model of this library."""
    check_loaded(model)
    if not hasattr(tokenizer, "backend_tokenizer"):
        seen = "no tokenizer" if tokenizer is None else type(tokenizer).__name__
        expected = "the fast tokenizer of the model"
        raise ModelError("gv.load_model, tokenizer", seen=seen, expected=expected, hint=HOW_TO_LOAD)
    network = TorchNetwork(model, str(model.device))
    words = PlainText(tokenizer)
    source = tokenizer.chat_template
    template = ChatTemplate(source, words) if isinstance(source, str) else None
    settings = model.generation_config or model.config
    return assemble(name_loaded(model), network, words, template, settings.eos_token_id)


def check_loaded(model: Any) -> None:
    """Refuse what is not a causal language model of transformers, or is being trained."""
    where = "gv.load_model, model"
    head = getattr(model, "get_output_embeddings", lambda: None)()
    if head is None or not hasattr(model, "generate"):
        expected = "a name, a folder, or a causal language model of transformers"
        raise ModelError(where, seen=quoted(type(model).__name__), expected=expected, hint=HOW_TO_LOAD)
    if model.training:
        seen = "a model in training, whose dropout changes every answer"
        raise ModelError(where, seen=seen, expected="one that answers the same each time", hint="model.eval()")


def name_loaded(model: Any) -> str:
    """The last part of the name that a model was loaded by, or its class."""
    name = str(getattr(model.config, "name_or_path", "") or "")
    return name.rstrip("/").rpartition("/")[2] or type(model).__name__


def assemble(name: str, network: Network, words: Encoder, template: ChatTemplate | None, said: Any) -> LanguageModel:
    """The model of these parts. A text ends with an id that its settings say, the tokenizer's, or the end of a turn."""
    ends = said if isinstance(said, list) else [said]
    ends = [*ends, words.eos_token_id, template and template.end_of_turn()]
    vocabulary = Vocabulary.from_tokenizer(words, network.size, ends)
    return LanguageModel(name, network, words, vocabulary, template)
