"""What transformers makes of dialogues with the chat templates that families are
published with, as text and in tokens:

    templates.py internal/tokens/testdata

A family without a place for the system's words is given them in the user's.
"""
import json, pathlib, sys

from transformers import PreTrainedTokenizerFast

HERE = pathlib.Path(sys.argv[1])
ALTERNATE = "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
PROGRAMS = {
    "chatml": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "llama-3": "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
    "llama-2": "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}" + ALTERNATE + "{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
    "mistral": "{{ bos_token }}{% for message in messages %}" + ALTERNATE + "{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}",
    "zephyr": "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + eos_token }}\n{% elif message['role'] == 'system' %}\n{{ '<|system|>\n' + message['content'] + eos_token }}\n{% elif message['role'] == 'assistant' %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}",
    "gemma": "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}" + ALTERNATE + "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}",
}
SPECIAL = {
    "chatml": ["<|im_start|>", "<|im_end|>"], "llama-3": ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"], "llama-2": [], "mistral": [], "zephyr": [],
    "gemma": ["<bos>", "<start_of_turn>", "<end_of_turn>"],
}
BEGIN = {"llama-3": "<|begin_of_text|>", "gemma": "<bos>"}
CUT = {"chatml": ["gpt2", "llama3", "qwen2"], "llama-3": ["llama3"], "llama-2": ["llama2"], "mistral": ["llama2"], "zephyr": ["gpt2"], "gemma": ["qwen2"]}
DIALOGUES = [
    [["user", "Where is the lake?"]],
    [["system", "Be short."], ["user", "Hi, it's 12:45"], ["assistant", "Hello."], ["user", "Wo ist der naïve Bär?\n\nIch weiß es nicht."]],
]

rows = []
for family, program in PROGRAMS.items():
    for name in CUT[family]:
        t = PreTrainedTokenizerFast(tokenizer_file=str(HERE / name / "tokenizer.json"), bos_token=BEGIN.get(family, "<s>"), eos_token="</s>")
        t.add_special_tokens({"additional_special_tokens": SPECIAL[family]})
        for turns in DIALOGUES:
            said = [list(x) for x in turns]
            if family in ("mistral", "gemma") and said[0][0] == "system":
                said = [["user", said[0][1] + "\n\n" + said[1][1]], *said[2:]]
            messages = [{"role": r, "content": c} for r, c in said]
            text = t.apply_chat_template(messages, chat_template=program, tokenize=False, add_generation_prompt=True)
            rows.append({"family": family, "program": program, "tokenizer": name, "special": SPECIAL[family], "turns": turns, "text": text,
                         "ids": t(text, add_special_tokens=False)["input_ids"]})
(HERE / "templates.json").write_text(json.dumps(rows, ensure_ascii=True, separators=(",", ":")))
print(len(rows), "dialogues")
