"""Speed beside llama.cpp and PyTorch, at the shape of SmolLM-135M, random weights.

    bench.py DIR [rounds]

Each figure is taken in turns, ours and theirs, and the median of the rounds is
told; one core each (one thread, pinned). Seconds are of the processor (user and
system), which what else runs on the machine disturbs less than the clock's; those
of the clock stand beside them. Memory is the largest resident size.
"""
import json, os, pathlib, resource, statistics, subprocess, sys, time

DIR = pathlib.Path(sys.argv[1])
CORE = str(max(os.sched_getaffinity(0)))
PROMPT, SAYS, ROWS, LENGTH = 128, 32, 4, 64


def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def timed(f):
    wall, used = time.monotonic(), cpu()
    f()
    return {"cpu": cpu() - used, "wall": time.monotonic() - wall}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def gguf_of(model, kind):
    """The model as GGUF, by the package gguf: the same weights, f32 or bf16."""
    import gguf, numpy as np
    from safetensors import safe_open

    path = DIR / f"smol-{kind}.gguf"
    if path.exists():
        return path
    c = json.loads((model / "config.json").read_text())
    w = gguf.GGUFWriter(str(path), "llama")
    w.add_block_count(c["num_hidden_layers"]); w.add_context_length(2048); w.add_embedding_length(c["hidden_size"])
    w.add_feed_forward_length(c["intermediate_size"]); w.add_head_count(c["num_attention_heads"]); w.add_head_count_kv(c["num_key_value_heads"])
    w.add_layer_norm_rms_eps(c["rms_norm_eps"]); w.add_rope_freq_base(c["rope_theta"]); w.add_rope_dimension_count(c["hidden_size"] // c["num_attention_heads"])
    w.add_vocab_size(c["vocab_size"])
    w.add_tokenizer_model("llama")
    w.add_token_list([f"<{i}>".encode() for i in range(c["vocab_size"])]); w.add_token_scores([0.0] * c["vocab_size"]); w.add_token_types([1] * c["vocab_size"])
    w.add_bos_token_id(1); w.add_eos_token_id(2)
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
             "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    with safe_open(model / "model.safetensors", "np") as f:
        for key in f.keys():
            x = f.get_tensor(key).astype(np.float32)
            if key == "model.embed_tokens.weight":
                name = "token_embd.weight"
            elif key == "model.norm.weight":
                name = "output_norm.weight"
            else:
                _, _, layer, rest = key.split(".", 3)
                name = f"blk.{layer}.{names[rest.removesuffix('.weight')]}.weight"
                heads = {"self_attn.q_proj.weight": c["num_attention_heads"], "self_attn.k_proj.weight": c["num_key_value_heads"]}.get(rest)
                if heads:  # llama.cpp turns neighbours, transformers halves
                    x = x.reshape(heads, 2, x.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(x.shape)
            if kind == "bf16" and x.ndim == 2:
                w.add_tensor(name, gguf.quants.quantize(x, gguf.GGMLQuantizationType.BF16), raw_dtype=gguf.GGMLQuantizationType.BF16)
            else:
                w.add_tensor(name, x)
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
    return path


def llama(kind):
    import llama_cpp as lc, numpy as np

    m = lc.Llama(str(gguf_of(DIR / "smol", kind)), n_ctx=256, n_batch=PROMPT, n_ubatch=PROMPT, n_threads=1, n_threads_batch=1, verbose=False)
    ids, out = [(i * 7919) % 40000 + 3 for i in range(PROMPT)], {}
    m.eval(ids)
    # The last row of logits, as the C library has it.
    out["next"] = int(np.ctypeslib.as_array(lc.llama_get_logits_ith(m._ctx.ctx, -1), shape=(m.n_vocab(),)).argmax())
    m.reset()
    out["prefill"] = timed(lambda: m.eval(ids))

    def decode():
        for i in range(SAYS):
            m.eval([ids[i]])

    out["decode"] = timed(decode)
    return out | {"mb": peak()}


def torch_step():
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(1)
    base = AutoModelForCausalLM.from_pretrained(DIR / "smol", dtype=torch.float32)
    model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"]))
    ids = torch.tensor([[(r * 31 + i * 7919) % 40000 + 3 for i in range(LENGTH)] for r in range(ROWS)])
    adam = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4, weight_decay=0)

    def step():
        adam.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        adam.step()

    step()
    return {"step": timed(lambda: (step(), step())), "mb": peak()}


def run(*args):
    env = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "GOMAXPROCS": "1", "HF_HUB_OFFLINE": "1"}
    p = subprocess.run(["taskset", "-c", CORE, *map(str, args)], env=env, check=True, capture_output=True, text=True)
    return json.loads(p.stdout.splitlines()[-1])


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    DIR.mkdir(parents=True, exist_ok=True)
    ours = DIR / "ours"
    subprocess.run(["go", "build", "-o", ours, "./scripts/lora-parity/speed"], check=True)
    if not (DIR / "smol" / "config.json").exists():
        subprocess.run([ours, "make", DIR / "smol"], check=True)
    for kind in ("f32", "bf16"):
        gguf_of(DIR / "smol", kind)
    cases = {
        "f32": (lambda: run(ours, "f32", DIR / "smol"), lambda: run(sys.executable, __file__, DIR, "llama", "f32")),
        "bf16": (lambda: run(ours, "bf16", DIR / "smol"), lambda: run(sys.executable, __file__, DIR, "llama", "bf16")),
        "train": (lambda: run(ours, "train", DIR / "smol"), lambda: run(sys.executable, __file__, DIR, "torch")),
    }
    got, nexts = {}, {}
    for _ in range(rounds):
        for case, pair in cases.items():
            for who, f in zip(("ours", "theirs"), pair):
                said = f()
                nexts.setdefault(case, set()).add(said.pop("next", None))
                for what, x in said.items():
                    got.setdefault((case, what), {}).setdefault(who, []).append(x)
    for case, said in nexts.items():
        if len(said) != 1:
            sys.exit(f"{case}: after the prompt the likeliest token differs: {said}; these are not the same model")
    work = {"prefill": PROMPT, "decode": SAYS, "step": 2}
    print("| | ours | theirs | ours / theirs |\n|---|---|---|---|")
    for (case, what), of in got.items():
        if what == "mb":
            a, b = (statistics.median(of[w]) for w in ("ours", "theirs"))
            print(f"| {case}, memory | {a:.0f} MiB | {b:.0f} MiB | {a / b:.2f} |")
            continue
        for clock in ("cpu", "wall"):
            a, b = (statistics.median(work[what] / x[clock] for x in of[w]) for w in ("ours", "theirs"))
            print(f"| {case}, {what} a second ({clock}) | {a:.3g} | {b:.3g} | {a / b:.2f} |")


match sys.argv[2:]:
    case ["llama", kind]:
        print(json.dumps(llama(kind)))
    case ["torch"]:
        print(json.dumps(torch_step()))
    case _:
        main()
