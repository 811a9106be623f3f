"""Trains a small static embedding model from the texts of this machine.

    scripts/static-model/train.sh [FOLDER OF MORE TEXTS…]

It reads the comments of the Go sources and the Markdown files of the Go
toolchain and the module cache, and the folders that are named. What retrieval
is measured with (GOROOT/doc, eval/) is left out. Words that stand in the same
company get similar vectors: shifted positive pointwise mutual information of
tokens within a window, its strongest 256 directions, then model2vec's last
steps, PCA to 64 numbers and a weight a / (a + frequency) a token (SIF).

No text and no vector of it is committed; the model is a by-product of what
lies on the machine that made it, so another machine's is another model.
"""
import argparse, gzip, hashlib, json, pathlib, re, subprocess, sys, time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from model2vec import StaticModel
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

LINE = re.compile(r"^\s*//[ \t]?(.*)$")
SKIP = re.compile(r"testdata|/vendor/|_test\.go$|\.pb\.go$|zz_generated|/tables\.go$|/eval/|/GOROOT/doc|unicode/|/cmd/compile/internal/ssa/rewrite")
REQUEST, ESCAPE = re.compile(r"(?m)^[.'].*$"), re.compile(r"\\f.|\\&|\\-")  # of manual pages
CODE = re.compile(r"[{}();=]|:=|->|\||\+\+|</|/>")


def go_comments(text):
    run = []
    for line in text.split("\n"):
        m = LINE.match(line)
        if m:
            run.append(m.group(1))
        elif run:
            yield from paragraphs("\n".join(run))
            run = []


def paragraphs(text):
    for p in re.split(r"\n\s*\n", text):
        p = " ".join(p.split())
        if len(p) > 60 and sum(c.isalpha() or c == " " for c in p) > 0.85 * len(p) and len(CODE.findall(p)) < len(p) / 60:
            yield p


def read(path):
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", errors="ignore") as f:
                return f.read(1 << 20)
        return path.read_text(errors="ignore")[: 1 << 20]
    except OSError:
        return ""


def texts(folders):
    """Every paragraph once: licences and generated comments repeat a thousand times."""
    seen = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = str(path)
            if SKIP.search(name) or not path.is_file() or path.is_symlink():
                continue
            if path.suffix == ".go":
                found = go_comments(read(path))
            elif path.suffix in (".md", ".rst", ".txt"):
                found = paragraphs(re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]+>|[#*_\[\]]", " ", read(path), flags=re.S))
            elif re.search(r"/man[1-8]/[^/]+\.gz$", name):
                found = paragraphs(ESCAPE.sub("", REQUEST.sub("", read(path))))
            else:
                continue
            for p in found:
                key = hashlib.blake2b(p.lower().encode(), digest_size=8).digest()
                if key not in seen:
                    seen.add(key)
                    yield p


def tokenizer(corpus, size):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(corpus, trainers.WordPieceTrainer(
        vocab_size=size, min_frequency=5, special_tokens=["[PAD]", "[UNK]"], limit_alphabet=200, show_progress=False))
    return t


def company(t, corpus, size, window, keep):
    """Counts how often tokens stand near each other; frequent ones are thinned."""
    rng = np.random.default_rng(1)
    counts, total = np.zeros(size), sp.csr_matrix((size, size), dtype=np.float32)
    encoded = []
    for at in range(0, len(corpus), 20_000):
        for e in t.encode_batch_fast(corpus[at : at + 20_000], add_special_tokens=False):
            ids = np.asarray(e.ids, dtype=np.int32)
            encoded.append(ids)
            np.add.at(counts, ids, 1)
    frequency = counts / counts.sum()
    stay = np.minimum(1, np.sqrt(keep / np.maximum(frequency, 1e-12)) + keep / np.maximum(frequency, 1e-12))
    stay[:2] = 0
    for at in range(0, len(encoded), 60_000):
        gap = np.full(window, -1, dtype=np.int64)
        flat = np.concatenate([np.concatenate([ids[rng.random(len(ids)) < stay[ids]], gap]) for ids in encoded[at : at + 60_000]])
        for d in range(1, window + 1):
            a, b = flat[:-d], flat[d:]
            ok = (a >= 0) & (b >= 0)
            keys, n = np.unique(a[ok] * size + b[ok], return_counts=True)
            total = total + sp.csr_matrix((n.astype(np.float32) * (window + 1 - d) / window, (keys // size, keys % size)), shape=(size, size))
    return total + total.T, frequency


def vectors(near, dims, shift):
    """The strongest directions of the shifted positive mutual information."""
    near = near.tocoo()
    rows = np.bincount(near.row, near.data, near.shape[0])
    smooth = rows**0.75
    value = np.log(np.maximum(near.data, 1e-9) * smooth.sum() / np.maximum(rows[near.row] * smooth[near.col], 1e-9)) - np.log(shift)
    ok = value > 0
    m = sp.csr_matrix((value[ok].astype(np.float32), (near.row[ok], near.col[ok])), shape=near.shape)
    u, s, _ = svds(m, k=dims, random_state=1)
    order = np.argsort(-s)
    return u[:, order] * np.sqrt(s[order])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("folders", nargs="*", type=pathlib.Path)
    p.add_argument("--vocabulary", type=int, default=24_000)
    p.add_argument("--window", type=int, default=6)
    p.add_argument("--dims", type=int, default=256)
    p.add_argument("--keep", type=float, default=3e-4)
    p.add_argument("--shift", type=float, default=1.5)
    p.add_argument("--sif", type=float, default=1e-4)
    o = p.parse_args()
    env = lambda name: pathlib.Path(subprocess.check_output(["go", "env", name], text=True).strip())
    began = time.time()
    say = lambda text: print(f"{time.time() - began:5.0f} s  {text}", file=sys.stderr, flush=True)
    corpus = list(texts([env("GOROOT") / "src", env("GOMODCACHE"), *o.folders]))
    say(f"{len(corpus)} paragraphs, {sum(map(len, corpus)) >> 20} MiB")
    t = tokenizer(corpus, o.vocabulary)
    size = t.get_vocab_size()
    say(f"{size} tokens")
    near, frequency = company(t, corpus, size, o.window, o.keep)
    say(f"{near.nnz} pairs of {int(near.sum())}")
    v = vectors(near, o.dims, o.shift)
    say("directions")
    finish(t, v, frequency, o.sif, o.out)
    say(f"written to {o.out}")


def finish(t, v, frequency, sif, out):
    v = v / (np.linalg.norm(v, axis=1, keepdims=True) + 1e-9)
    mean = (v * frequency[:, None]).sum(axis=0)  # of running text: what every sentence shares
    v = v - mean
    _, _, axes = np.linalg.svd((v * np.sqrt(frequency + 1e-7)[:, None]), full_matrices=False)
    v = (v @ axes.T)[:, :64]
    v *= (sif / (sif + frequency))[:, None]
    v[:2] = 0
    StaticModel(v.astype(np.float16), t, normalize=True).save_pretrained(out)


if __name__ == "__main__":
    main()
