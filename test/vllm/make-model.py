"""Writes a chat model of 200 KB with random weights: Qwen2, one token a UTF-8 byte, a ChatML template with tools.
It knows no words: what it says is forced (see say.ts). Make it with the transformers of the vLLM that will serve it."""
import os
import sys

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

out = sys.argv[1] if len(sys.argv) > 1 else "model"
torch.manual_seed(0)

# Ids 0-255 are the bytes (printable ASCII c has id ord(c) - 33, "a" is 64, a blank 220), 256-258 special, 259-262 plain added tokens.
alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens([AddedToken(t, special=True) for t in ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]])
tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in ["<tool_call>", "</tool_call>", "<think>", "</think>"]])
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=2048, clean_up_tokenization_spaces=False)
fast.chat_template = (
    "{% if tools %}<|im_start|>system\n# Tools\n{% for t in tools %}{{ t | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% endif %}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
fast.save_pretrained(out)

eos, pad = fast.convert_tokens_to_ids("<|im_end|>"), fast.convert_tokens_to_ids("<|endoftext|>")
config = Qwen2Config(
    vocab_size=320, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,  # head size 32: the CPU attention takes no smaller one
    max_position_embeddings=2048, tie_word_embeddings=True, bos_token_id=None, eos_token_id=eos, pad_token_id=pad, torch_dtype="float32",
)
Qwen2ForCausalLM(config).to(torch.bfloat16).save_pretrained(out)
GenerationConfig(eos_token_id=eos, pad_token_id=pad, do_sample=True, temperature=1.0).save_pretrained(out)
print(out, sum(os.path.getsize(os.path.join(out, f)) for f in os.listdir(out)), "bytes")
