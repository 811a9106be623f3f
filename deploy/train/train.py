"""Trains a LoRA adapter from a job's folder with transformers and PEFT.

    python train.py /job [--base /base] [--device cuda|cpu]

It reads and leaves the files that docs/training.md describes, as `liminald train`
does: job.json and batches/ in; metrics.jsonl, and out/ with a PEFT folder and
manifest.json, out. The losses stand below, written out, and the batches come in
the same order, so that both trainers go the same way. What is left here is checked
by liminald before it is used.

Exit codes: 0 trained, 1 failed and worth another start, 2 the job is wrong.
"""
import argparse, hashlib, json, math, os, pathlib, signal, sys, time, warnings

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is ever fetched

import torch
import torch.nn.functional as F
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

WRONG, FAILED, IGNORED, RISES = 2, 1, -100, 3
SEED_NAMES = {"attn_q": ["q_proj"], "attn_k": ["k_proj"], "attn_v": ["v_proj"], "attn_o": ["o_proj"], "mlp_in": ["gate_proj", "up_proj"], "mlp_out": ["down_proj"]}


def stop(code, text):
    print(text, file=sys.stderr, flush=True)
    sys.exit(code)


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def fingerprint(base):
    """Of a model: over its config.json and weights, as liminald computes it."""
    if (base / "model.safetensors").exists():
        files = ["model.safetensors"]
    else:
        files = sorted(set(json.loads((base / "model.safetensors.index.json").read_text())["weight_map"].values()))
    return hashlib.sha256("".join(f"{n} {sha256(base / n)}\n" for n in ["config.json", *files]).encode()).hexdigest()


class Order:
    """Draws the batches of an epoch as Go's math/rand/v2 does (PCG-DXSM, Perm)."""

    M, I, W = (2549297995355413924 << 64) + 4865540595714422341, (6364136223846793005 << 64) + 1442695040888963407, (1 << 64) - 1

    def __init__(self, seed, epoch):
        self.state = (seed << 64) + epoch

    def word(self):
        self.state = (self.state * self.M + self.I) & ((1 << 128) - 1)
        hi, lo = self.state >> 64, self.state & self.W
        hi ^= hi >> 32
        hi = hi * 0xDA942042E4DD58B5 & self.W
        hi ^= hi >> 48
        return hi * (lo | 1) & self.W

    def below(self, n):
        if n & (n - 1) == 0:
            return self.word() & (n - 1)
        product = self.word() * n
        if product & self.W < n:
            while product & self.W < (1 << 64) % n:
                product = self.word() * n
        return product >> 64

    def permutation(self, n):
        p = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            p[i], p[j] = p[j], p[i]
        return p


class Batch:
    def __init__(self, entry, tensors, device):
        self.ids, self.labels = tensors["input_ids"].to(device), tensors["labels"].to(device)
        self.mask, self.weights = tensors["attention_mask"].to(device), tensors["weights"].double().to(device)
        self.lengths = [(r["prompt_len"], r["target_len"]) for r in entry["rows"]]
        self.learnt = (self.labels[:, 1:] != IGNORED).sum(1)
        self.weight = float((self.learnt * self.weights).sum())  # of its tokens together
        self.text = int(self.mask.sum())

    def shifted(self):
        """Of each row its prompt with the target of the next: answers to something else."""
        rows = []
        for r in range(len(self.lengths)):
            (p, _), n = self.lengths[r], (r + 1) % len(self.lengths)
            q, t = self.lengths[n]
            rows.append((self.ids[r, :p], self.ids[n, q : q + t]))
        width = max(len(p) + len(t) for p, t in rows)
        other = object.__new__(Batch)
        other.ids, other.labels = self.ids.new_zeros(len(rows), width), self.ids.new_full((len(rows), width), IGNORED)
        other.mask, other.weights = torch.zeros_like(other.ids), self.weights
        for r, (p, t) in enumerate(rows):
            other.ids[r, : len(p) + len(t)], other.mask[r, : len(p) + len(t)] = torch.cat([p, t]), 1
            other.labels[r, len(p) : len(p) + len(t)] = t
        return other


def token_losses(model, b):
    """Cross-entropy of each target; 0 where nothing is learnt. Rows x (length - 1)."""
    logits = model(input_ids=b.ids, attention_mask=b.mask).logits[:, :-1].float()
    losses = F.cross_entropy(logits.flatten(0, 1), b.labels[:, 1:].flatten(), ignore_index=IGNORED, reduction="none")
    return losses.view(len(b.ids), -1)


def log_probs(model, b):
    return -token_losses(model, b).double().sum(1)


def sft(model, b):
    """The mean over the targets, each as its row weighs."""
    return (token_losses(model, b).double().sum(1) * b.weights).sum() / b.weight


def dpo(model, b, base, beta):
    """-ln sigmoid(beta * margin): rows are pairs, the better one first."""
    gain = log_probs(model, b) - base
    weights = b.weights[0::2]
    return -(weights * F.logsigmoid(beta * (gain[0::2] - gain[1::2]))).sum() / weights.sum()


def kto(model, b, base, beta, far):
    """1 - sigmoid(beta * (far - gain)) of answers that were disliked."""
    gain = log_probs(model, b) - base
    return (b.weights * (1 - torch.sigmoid(beta * (far - gain)))).sum() / b.weights.sum()


def rate(step, warm, steps):
    if step < warm:
        return (step + 1) / warm
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min((step - warm) / max(1, steps - warm), 1)))


def read(folder, job, device):
    path = folder / "batches" / "manifest.json"
    if sha256(path) != job["files"]["batches/manifest.json"]:
        stop(WRONG, "batches/manifest.json is not the one that the job names")
    manifest, sets = json.loads(path.read_text()), {}
    for e in manifest["batches"]:
        if pathlib.PurePath(e["file"]).name != e["file"] or sha256(folder / "batches" / e["file"]) != e["sha256"]:
            stop(WRONG, f"batches/{e['file']} is not the one that the manifest names")
        sets.setdefault(e["set"], []).append(Batch(e, load_file(folder / "batches" / e["file"]), device))
    return sets


def with_adapter(folder, job, base):
    if job.get("init"):
        init = folder / job["init"]
        model = PeftModel.from_pretrained(base, init if init.exists() else folder / "init", is_trainable=True)
    else:
        torch.manual_seed(job["seed"] % (1 << 63))
        targets = sorted({t for name in job["targets"] for t in SEED_NAMES.get(name, [name])})
        model = get_peft_model(base, LoraConfig(
            task_type="CAUSAL_LM", r=job["r"], lora_alpha=job["alpha"], lora_dropout=0, bias="none", target_modules=targets,
            layers_to_transform=job.get("layers") or None))
    heard(model, job.get("gate") or 1)
    return model


def heard(model, gate):
    """Trained is what is heard: what an adapter adds at the gate it is served with."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lora_B" in name:
                p.mul_(gate)


def train(folder, job, model, sets, device):
    kind, beta, lam = job["loss"]["kind"], job["loss"].get("beta", 0), job["loss"]["lambda"]
    imitated = sets.get("train", [])
    compared = sets.get({"sft+dpo": "pairs", "sft+kto": "unpaired"}.get(kind, ""), [])
    if not imitated or sum(b.weight for b in imitated) == 0:
        stop(WRONG, "there is nothing to train with")
    mean = sum(b.weight for b in imitated) / sum(int(b.learnt.sum()) for b in imitated)
    batches, held = imitated + compared, [b for b in sets.get("held_out", []) if b.weight > 0]
    with torch.no_grad(), model.disable_adapter():
        without = [log_probs(model, b) for b in compared]
        others = [b.shifted() for b in compared] if kind == "sft+kto" else []
        without_others = [log_probs(model, b) for b in others]

    def held_out():
        with torch.no_grad():
            return sum(b.weight * float(sft(model, b)) for b in held) / sum(b.weight for b in held) if held else None

    params = [p for p in model.parameters() if p.requires_grad]
    adam = torch.optim.AdamW(params, lr=job["lr"], weight_decay=0)
    steps, n = job["steps"], len(batches)
    warm, last, rises, latest = max(1, min(20, steps // 10)), {}, 0, held_out()
    out = {"loss": {"before": None, "after": None}, "held_out": {"before": latest, "after": latest}, "steps": 0, "of": steps, "stopped": False}
    began, spent = time.monotonic(), 0
    with open(folder / "metrics.jsonl", "w") as metrics:
        for step in range(steps):
            if json.loads((folder / "job.json").read_text())["fence"] > job["fence"]:
                stop(FAILED, "the job was given to somebody else; this trainer stops")
            at = Order(job["seed"], step // n).permutation(n)[step % n]
            b, i, factor = batches[at], at - len(imitated), 1.0
            if i < 0:
                loss, factor = sft(model, b), b.weight / (float(b.learnt.sum()) * mean)
            elif kind == "sft+dpo":
                loss = dpo(model, b, without[i], beta)
            else:
                with torch.no_grad():
                    far = max(0.0, float((log_probs(model, others[i]) - without_others[i]).mean()))
                loss = kto(model, b, without[i], beta, far)
            penalty = lam * sum((p.double() ** 2).sum() for p in params)
            adam.zero_grad()
            (factor * loss + penalty).backward()
            length, value = float(torch.nn.utils.clip_grad_norm_(params, 1.0)), float(loss.detach())
            if not math.isfinite(value) or not math.isfinite(length):
                stop(WRONG, f"training went astray in step {step + 1}: a lower lr, now {job['lr']}, may help")
            adam.param_groups[0]["lr"] = job["lr"] * rate(step, warm, steps)
            adam.step()
            spent += b.text
            if i < 0:
                out["loss"]["after"] = value
                out["loss"]["before"] = value if out["loss"]["before"] is None else out["loss"]["before"]
            rises = rises + 1 if at in last and value > last[at] else 0 if at in last else rises
            last[at], out["steps"], out["stopped"] = value, step + 1, rises >= RISES
            if (step + 1) % n == 0 or step + 1 == steps or out["stopped"]:
                latest = held_out()
            took = time.monotonic() - began
            line = {"step": step + 1, "of": steps, "compared": i >= 0, "loss": value, "penalty": float(penalty.detach()), "held_out": latest,
                    "gradient": length, "tok_s": spent / took, "eta": (steps - step - 1) * took / (step + 1)}
            print(json.dumps({k: v for k, v in line.items() if v is not None}), file=metrics, flush=True)
            if out["stopped"]:
                break
    out["held_out"]["after"] = latest
    out["rows"], out["tokens"] = sum(len(b.lengths) for b in batches), sum(b.text for b in batches)
    return out


def main():
    signal.signal(signal.SIGTERM, lambda *_: stop(FAILED, "stopped"))  # also as the first process of a container
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("--base", type=pathlib.Path, help="the base model's folder; otherwise where job.json says")
    args.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = args.parse_args()
    try:
        job = json.loads((args.folder / "job.json").read_text())
    except (OSError, ValueError) as e:
        stop(WRONG, f"job.json cannot be read: {e}")
    if job["loss"]["kind"] == "distil":
        stop(WRONG, "it is taught by other adapters (distil), which this trainer does not do: it knows sft, sft+dpo and sft+kto. Liminal's own trainer does, without LIMINAL_TRAINER=command")
    if job["loss"]["kind"] not in ("sft", "sft+dpo", "sft+kto"):
        stop(WRONG, f"the loss {job['loss']['kind']!r} is not known")
    folder = args.base or args.folder / job["base"]["dir"]
    if fingerprint(folder) != job["base"]["sha256"]:
        stop(WRONG, f"the base model in {folder} is not the one the job is for")
    torch.use_deterministic_algorithms(True, warn_only=True)
    base = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype="auto" if args.device == "cuda" else torch.float32).to(args.device)
    large = base.num_parameters() > 1e9  # activations are computed again instead of kept
    if large:
        base.gradient_checkpointing_enable()
        base.enable_input_require_grads()
    model = with_adapter(args.folder, job, base)
    model.train(large)  # otherwise as when it answers; gradients flow all the same
    said = train(args.folder, job, model, read(args.folder, job, args.device) if job["steps"] else {}, args.device) if job["steps"] else {"steps": 0, "of": 0}
    out = args.folder / "out"
    for old in out.glob("*") if out.exists() else []:
        old.unlink()
    warnings.simplefilter("ignore")  # the base is called by a name, and is no folder of that name
    model.peft_config["default"].base_model_name_or_path = job["base"]["name"]
    heard(model, 1 / (job.get("gate") or 1))
    model.save_pretrained(out)
    for f in out.iterdir():
        if f.name not in ("adapter_config.json", "adapter_model.safetensors"):
            f.unlink()  # a card for people; nothing else may lie here
    said |= {"job": job["job"], "fence": job["fence"], "base_sha256": job["base"]["sha256"], "trainer": "transformers + peft",
             "files": {f.name: sha256(f) for f in out.iterdir()}}
    (out / "manifest.json.new").write_text(json.dumps(said, indent=2))
    (out / "manifest.json.new").rename(out / "manifest.json")


if __name__ == "__main__":
    main()
