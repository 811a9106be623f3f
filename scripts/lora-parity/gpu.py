"""Trains with deploy/train/train.py on a GPU, and prints what it took.

    gpu.py WORK [--layers 32]

First the three jobs that the goldens are of, in a copy of them, WORK/parity:
`LORA_PARITY=WORK/parity go test ./internal/lora/train -run PEFT` then holds the
losses, step by step, to those of `liminald train`. Then, of the shape of Llama
3's 8B with random weights in bfloat16, an adapter with each of the three losses.
Its rows are random too: what is measured is time and memory, and that losses fall.
"""
import argparse, json, pathlib, shutil, subprocess, sys, time

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig

HERE = pathlib.Path(__file__).resolve().parents[2]
TRAINER, GOLDENS = HERE / "deploy/train/train.py", HERE / "internal/lora/train/testdata/parity"
sys.path.insert(0, str(TRAINER.parent))
from train import IGNORED, fingerprint, sha256

ROWS, PROMPT, TARGET, VOCAB = 4, 384, 128, 128256


def run(job, *args):
    began = time.monotonic()
    done = subprocess.run([sys.executable, TRAINER, job, "--device", "cuda", *args], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{job}: {done.returncode}\n{done.stderr[-2000:]}")
    steps = [json.loads(line) for line in (job / "metrics.jsonl").read_text().splitlines()]
    return steps, time.monotonic() - began


def goldens(work):
    shutil.copytree(GOLDENS, work, dirs_exist_ok=True)
    for job in sorted((work / "ours/jobs").iterdir()):
        was = [json.loads(line) for line in (job / "metrics.jsonl").read_text().splitlines()]
        shutil.rmtree(job / "out")
        steps, took = run(job)
        most = max(abs(a[k] - b[k]) for a, b in zip(was, steps, strict=True) for k in ("loss", "penalty", "held_out"))
        print(f"{job.name}: {len(steps)} steps in {took:.0f} s, losses differ from the processor's by {most:.1e} at most", flush=True)


def large(work, layers):
    base = work / "base"
    shape = dict(hidden_size=4096, num_hidden_layers=layers, num_attention_heads=32, num_key_value_heads=8, intermediate_size=14336, vocab_size=VOCAB)
    torch.manual_seed(1)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(LlamaConfig(**shape, tie_word_embeddings=False), dtype=torch.bfloat16)
    count = model.num_parameters()
    model.save_pretrained(base)
    del model
    torch.cuda.empty_cache()
    mark = fingerprint(base)
    for kind in ("sft", "sft+dpo", "sft+kto"):
        job = work / "jobs" / kind
        job_of(job, kind, mark)
        steps, took = run(job, "--base", str(base))
        losses = [s["loss"] for s in steps if not s["compared"]]
        out = json.loads((job / "out/manifest.json").read_text())
        print(f"{kind}: {count/1e9:.1f}e9 numbers, {len(steps)} steps of {ROWS} rows of {PROMPT+TARGET} tokens in {took:.0f} s with loading, "
              f"{steps[-1]['tok_s']:.0f} tokens/s; loss {losses[0]:.2f} to {losses[-1]:.2f}, held out {out['held_out']['before']:.2f} to {out['held_out']['after']:.2f}", flush=True)


def job_of(job, kind, base):
    batches = job / "batches"
    batches.mkdir(parents=True)
    sets, entries = {"train": 3, "held_out": 1}, []
    sets |= {"sft+dpo": {"pairs": 2}, "sft+kto": {"unpaired": 2}}.get(kind, {})
    draw = torch.Generator().manual_seed(2)
    for name, count in sets.items():
        for n in range(count):
            ids = torch.randint(VOCAB, (ROWS, PROMPT + TARGET), generator=draw)
            labels = ids.clone()
            labels[:, :PROMPT] = IGNORED
            file = batches / f"{name}-{n:04}.safetensors"
            save_file({"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids), "weights": torch.ones(ROWS)}, file)
            entries.append({"file": file.name, "sha256": sha256(file), "set": name, "rows": [{"prompt_len": PROMPT, "target_len": TARGET}] * ROWS})
    (batches / "manifest.json").write_text(json.dumps({"vocab": VOCAB, "batches": entries}))
    (job / "job.json").write_text(json.dumps({
        "job": kind, "fence": 1, "base": {"name": "large", "dir": "", "sha256": base}, "files": {"batches/manifest.json": sha256(batches / "manifest.json")},
        "r": 16, "alpha": 16, "targets": ["attn_q", "attn_k", "attn_v", "attn_o", "mlp_in", "mlp_out"],
        "loss": {"kind": kind, "lambda": 1e-6, "beta": 0.1}, "lr": 5e-4, "steps": 30, "seed": 1, "gate": 0.5,
    }))


args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
args.add_argument("work", type=pathlib.Path)
args.add_argument("--layers", type=int, default=32)
args = args.parse_args()
print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
goldens(args.work / "parity")
large(args.work / "large", args.layers)
