"""Makes the tokenizers of this folder and what Hugging Face's tokenizers itself
makes of the texts of internal/embed/static/testdata/sentences.json and of some
odd ones.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install tokenizers
    /tmp/venv/bin/python internal/tokens/testdata/make.py

Each folder holds a tokenizer.json and expected.json: a list of [text, ids with
special tokens, text of the ids].
"""
import json, pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

here = pathlib.Path(__file__).parent
root = here.parent.parent.parent
corpus = [p.read_text() for p in sorted((root / "docs").glob("*.md"))[:6]] + ["naïve café Zürich 東京都 🙂 12345 it's IT'S we'll\r\n\r\n  x"] * 20

ODD = [
    "it's IT'S we'LL They'Ve 'twas 's 'ſ x'ſy", "1234567 12 ½Ⅷ①", "a  b   c    ", "   lead", "tail   ", "\n\n\nx\n \n  y", "x \r\n\r\n  \r\ny", "tab\t\tx \t y",
    "foo(bar)!?\n\n  baz", "!!!\n???\r\n", "$x=1;y+=2", "a\u00a0b\u00a0\u00a0c\u3000d", "\u2028x\u2029y", "naïve e\u0301", "東京都は日本", "🙂👍🏽👨‍👩‍👧", "_under_score", "x'y'z", "' '", " '", "'",
    "<|im_start|>user\nhi<|im_end|>", "a<|im_end|>b", "<s>x</s>", " <s> x </s> ", "word" * 50, "\x00\x01", "don\u2019t", "a.b.c", "...", "  ...  ", "é", " é ", "\u0301x", "x\u200by", "٣٤٥٦", "9 9", "\t", " ", "", "a\u0085b", "x\u1680y",
]
texts = [t for t in json.loads((root / "internal/embed/static/testdata/sentences.json").read_text())][:120] + ODD

PATTERNS = {
    "gpt2": None,
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
SPECIAL = ["<|im_start|>", "<|im_end|>", "<s>", "</s>"]


def save(name, t):
    folder = here / name
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(t.to_str(pretty=False))
    rows = [[x, (ids := t.encode(x, add_special_tokens=False).ids), t.decode(ids)] for x in texts]
    (folder / "expected.json").write_text(json.dumps(rows, ensure_ascii=True, separators=(",", ":")))


for name, regex in PATTERNS.items():
    t = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
    if name == "qwen2":
        t.normalizer = normalizers.NFC()
    if regex is None:
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=700, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    save(name, t)

# As SentencePiece's BPE of Llama 2 is written: bytes for what is unknown.
t = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], limit_alphabet=80, show_progress=False))
d = json.loads(t.to_str())
d["added_tokens"] = d["added_tokens"][:3]
d["decoder"] = {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
save("llama2", Tokenizer.from_str(json.dumps(d)))
