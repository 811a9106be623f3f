"""Makes the adapter of this folder with Hugging Face's own safetensors.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy safetensors
    /tmp/venv/bin/python internal/lora/peft/testdata/make.py

Number n of a tensor is (n % 17 - 8) / 16, with the sign of A turned in B. The
config has the fields PEFT 0.17 writes.
"""
import json, pathlib

import numpy as np
from safetensors.numpy import save_file

here = pathlib.Path(__file__).parent / "reference"
here.mkdir(exist_ok=True)
r, shapes = 4, {"self_attn.q_proj": (64, 64), "self_attn.v_proj": (32, 64)}
tensors = {}
for layer in range(2):
    for name, (out, inn) in shapes.items():
        for which, shape, sign in (("A", (r, inn), 1), ("B", (out, r), -1)):
            n = np.arange(shape[0] * shape[1], dtype=np.float32)
            tensors[f"base_model.model.model.layers.{layer}.{name}.lora_{which}.weight"] = (sign * (n % 17 - 8) / 16).reshape(shape).astype(np.float32)
save_file(tensors, here / "adapter_model.safetensors", metadata={"format": "pt"})
(here / "adapter_config.json").write_text(json.dumps({
    "alpha_pattern": {}, "auto_mapping": None, "base_model_name_or_path": "house/little-base", "bias": "none", "corda_config": None,
    "eva_config": None, "exclude_modules": None, "fan_in_fan_out": False, "inference_mode": True, "init_lora_weights": True,
    "layer_replication": None, "layers_pattern": None, "layers_to_transform": None, "loftq_config": {}, "lora_alpha": 8, "lora_bias": False,
    "lora_dropout": 0.05, "megatron_config": None, "megatron_core": "megatron.core", "modules_to_save": None, "peft_type": "LORA", "qalora_group_size": 16,
    "r": r, "rank_pattern": {}, "revision": None, "target_modules": ["v_proj", "q_proj"], "target_parameters": None, "task_type": "CAUSAL_LM",
    "trainable_token_indices": None, "use_dora": False, "use_qalora": False, "use_rslora": False}, indent=2))
