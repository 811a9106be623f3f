"""What transformers and PEFT make of what this program writes, and the other way.

    make.py OURS THEIRS

Reads OURS (of `go run ./scripts/lora-parity`) and leaves expected.json and the
results of deploy/train/train.py in it; writes THEIRS: models and adapters as
transformers and PEFT save them, each with expected.json.
"""
import json, pathlib, shutil, subprocess, sys

import peft, torch, transformers
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, LlamaConfig, MistralConfig, Qwen2Config

OURS, THEIRS = map(pathlib.Path, sys.argv[1:])
TRAINER = pathlib.Path(__file__).parent.parent.parent / "deploy" / "train" / "train.py"
PROMPT = [3, 9, 4, 60, 17, 17, 2, 41]
transformers.utils.logging.set_verbosity_error()
torch.manual_seed(1)


def logits(model):
    """Of the last token, and which are the eight likeliest after it, one by one."""
    with torch.no_grad():
        ids, said = torch.tensor([PROMPT]), []
        last = model(input_ids=ids).logits[0, -1]
        for _ in range(8):
            said.append(int(model(input_ids=ids).logits[0, -1].argmax()))
            ids = torch.cat([ids, torch.tensor([[said[-1]]])], 1)
        return {"logits": [round(float(x), 6) for x in last], "says": said}


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()


def gated(base, adapters):
    """Several at once: PEFT adds up the active ones, each times its scaling."""
    names, model = list(adapters), None
    for name, (folder, _) in adapters.items():
        if model is None:
            model = PeftModel.from_pretrained(base, folder, adapter_name=name)
        else:
            model.load_adapter(folder, adapter_name=name)
    model.base_model.set_adapter(names)
    for module in model.modules():
        if isinstance(getattr(module, "scaling", None), dict):
            for name in adapters.keys() & module.scaling.keys():
                module.scaling[name] *= adapters[name][1]
    return model.eval()


def ours():
    said = {"base": logits(load(OURS / "base"))}
    for name in ("persona", "law", "upper", "composed"):
        said[name] = logits(PeftModel.from_pretrained(load(OURS / "base"), OURS / "adapters" / name).eval())
    gates = {"persona": 0.5, "law": 1.0, "upper": 0.25}
    said["gated"] = logits(gated(load(OURS / "base"), {n: (OURS / "adapters" / n, g) for n, g in gates.items()}))
    (OURS / "expected.json").write_text(json.dumps({"prompt": PROMPT, "cases": said}))
    for job in sorted((OURS / "jobs").iterdir()):
        shutil.rmtree(job / "out", ignore_errors=True)
        subprocess.run([sys.executable, TRAINER, job, "--device", "cpu"], check=True)


def theirs():
    shape = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=24, vocab_size=64,
                 max_position_embeddings=64, bos_token_id=1, eos_token_id=2, initializer_range=0.3)
    scaled = {"rope_type": "llama3", "rope_theta": 50000.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
    models = {
        "llama": LlamaConfig(**shape, rope_parameters=scaled, tie_word_embeddings=True),
        "mistral": MistralConfig(**shape, rope_parameters={"rope_type": "default", "rope_theta": 1000.0}, sliding_window=32, tie_word_embeddings=False),
        "qwen2": Qwen2Config(**shape, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}, tie_word_embeddings=True),
    }
    for name, config in models.items():
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        for p in model.parameters():
            if p.dim() == 1:  # norms and biases, which begin as ones and zeros
                p.data += torch.randn_like(p) * 0.1
        folder = THEIRS / name
        model.save_pretrained(folder)
        said = {"base": logits(load(folder))}
        kinds = {"narrow": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"])}
        if name == "llama":
            kinds |= {
                "wide": dict(r=3, lora_alpha=6, target_modules="all-linear"), "stabilised": dict(r=4, lora_alpha=4, target_modules=["k_proj"], use_rslora=True),
                "upper": dict(r=2, lora_alpha=2, target_modules=["o_proj", "down_proj"], layers_to_transform=[1]),
            }
        for kind, fields in kinds.items():
            adapted = get_peft_model(load(folder), LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.1, **fields)).eval()
            for n, p in adapted.named_parameters():
                if "lora_B" in n:
                    torch.nn.init.normal_(p, std=0.2)
            adapted.save_pretrained(folder / kind)
            (folder / kind / "README.md").unlink()
            said[kind] = logits(PeftModel.from_pretrained(load(folder), folder / kind).eval())
        (folder / "generation_config.json").unlink(missing_ok=True)
        (folder / "expected.json").write_text(json.dumps({"prompt": PROMPT, "cases": said}))


ours()
theirs()
print(f"torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}")
