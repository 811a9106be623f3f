"""Makes the models of this folder and what model2vec itself says of sentences.txt.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install model2vec==0.10.0 tokenizers sentencepiece protobuf
    /tmp/venv/bin/python internal/embed/static/testdata/make.py "$(go env GOROOT)"

Every model is small and its vectors are random: what is tested is that the
same tokens are found and the same arithmetic is done. expected.f32 holds one
row a sentence, little-endian, before our cut to 64 numbers.
"""
import json, pathlib, random, re, sys, tempfile

import numpy as np
import sentencepiece
from model2vec import StaticModel
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

here = pathlib.Path(__file__).parent
goroot = pathlib.Path(sys.argv[1])

ODD = [
    "", " ", "\t\n", "?!", "…", "a", "naïve café Ångström Zürich", "NAÏVE CAFÉ ÅNGSTRÖM ZÜRICH", "e\u0301te\u0301 n\u0303",
    "İstanbul ıssız", "ΣΊΣΥΦΟΣ Σίσυφος", "東京 is 東京都", "こんにちは世界", "안녕하세요", "Привет, мир!", "שלום עולם", "مرحبا بالعالم",
    "emoji 🙂👍🏽 👨‍👩‍👧", "soft\u00adhyphen zero\u200bwidth\u2060joiner", "tab\tnewline\nreturn\r\nnbsp\u00a0here\u3000wide", "nul\x00byte \ufffd here",
    "don't can't we're I'll they've I'd it's", "x=1;y+=2<<3&&z||!w", "foo_bar.baz(qux)[0]", "1234567890 3.14 1,000", "½ ² Ⅷ ①",
    "https://example.org/path?x=1&y=2#z", "a" * 120, "super" * 40, "ﬁne ﬂow ﬀ", "ＦＵＬＬ width ｈａｌｆ", "$5 €10 £3 ¥7 §8 ¶9", "“quotes” ‘single’ «guillemets» – — ‐",
    "[UNK] [PAD] <unk> <s>", "New York City", "in New York", "newyork New Yorker", "garbage collector", "the garbage collector runs", "##ing ##", "▁ ▁a", "  two  spaces   three    ",
    "\u0915\u094d\u0937 \u0928\u092e\u0938\u094d\u0924\u0947", "ไทย", "Ⅻ ⅔ ㎏", "ß STRASSE straße", "\u1e9e", "A\u030a \u212b", "\U0001d400\U0001d401", "word " * 600,
]


def texts():
    html = (goroot / "doc/go_spec.html").read_text() + (goroot / "doc/go_mem.html").read_text()
    plain = re.sub(r"&[a-z]+;", " ", re.sub(r"<[^>]+>", " ", html))
    sentences = [" ".join(s.split()) for s in re.split(r"(?<=[.:])\s+(?=[A-Z])", plain)]
    return [s for s in sentences if 20 < len(s) < 400]


def save(name, tokenizer, dtype, dims, sentences, quantize=None, rows=None, **config):
    rng = np.random.default_rng(7)
    size = tokenizer.get_vocab_size()
    table = rng.standard_normal((rows or size, dims)).astype(np.float32)
    extra = {}
    if rows:
        extra["token_mapping"] = rng.integers(0, rows, size)
        extra["weights"] = (rng.random(size) + 0.1).astype(np.float32)
    if dtype == np.int8:
        table = np.clip(np.rint(table * 40), -127, 127)
    model = StaticModel(table.astype(dtype), tokenizer, config={}, normalize=config.pop("normalize", True), **extra, **config)
    folder = here / name
    model.save_pretrained(folder)
    for junk in ("README.md", "modules.json"):
        (folder / junk).unlink(missing_ok=True)
    model.embedding = model.embedding.astype(np.float32)  # the mean in full precision
    model.encode(sentences, use_multiprocessing=False).astype("<f4").tofile(folder / "expected.f32")


def bert(corpus, **flags):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(**flags)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=500, special_tokens=["[PAD]", "[UNK]"], limit_alphabet=90, show_progress=False))
    return t


def unigram(corpus):
    with tempfile.TemporaryDirectory() as tmp:
        (pathlib.Path(tmp) / "rules.tsv").write_text("41 30A\tC5\n212B\tC5\nFB01\t66 69\nFB02\t66 6C\n2116\t4E 6F\nA0\t20\n3000\t20\n2167\t56 49 49 49\nFF26\t46\n")
        (pathlib.Path(tmp) / "corpus.txt").write_text("\n".join(corpus))
        sentencepiece.SentencePieceTrainer.train(
            input=f"{tmp}/corpus.txt", model_prefix=f"{tmp}/m", vocab_size=400, character_coverage=0.99, normalization_rule_tsv=f"{tmp}/rules.tsv", minloglevel=2)
        from sentencepiece import sentencepiece_model_pb2 as pb
        proto = pb.ModelProto()
        proto.ParseFromString((pathlib.Path(tmp) / "m.model").read_bytes())
    t = Tokenizer(models.Unigram([(p.piece, p.score) for p in proto.pieces], unk_id=0, byte_fallback=False))
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return t


def byte_bpe(corpus):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return t


def char_bpe(corpus):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip(), normalizers.Replace("``", '"')])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\s+"), "removed"), pre_tokenizers.Punctuation(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Metaspace()])
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], limit_alphabet=60, show_progress=False))
    return t


def word_level(corpus):
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Lowercase()
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.train_from_iterator(corpus, trainers.WordLevelTrainer(vocab_size=400, special_tokens=["[UNK]"], show_progress=False))
    t.add_tokens([AddedToken("garbage collector", normalized=True), AddedToken("new york", normalized=True, single_word=True), AddedToken("Zürich", normalized=False, lstrip=True, rstrip=True)])
    return t


corpus = texts()
random.Random(5).shuffle(corpus)
sentences = ODD + corpus[:300]
(here / "sentences.json").write_text(json.dumps(sentences, ensure_ascii=False, indent=0) + "\n")
save("wordpiece", bert(corpus, lowercase=True), np.float32, 66, sentences)
save("wordpiece-cased", bert(corpus, lowercase=False, strip_accents=False), np.float16, 16, sentences, max_length=None)
save("quantized", bert(corpus, lowercase=True), np.int8, 16, sentences, rows=50, normalize=False, max_length=20)
save("unigram", unigram(corpus), np.float32, 16, sentences)
save("byte-bpe", byte_bpe(corpus), np.float16, 16, sentences)
save("char-bpe", char_bpe(corpus), np.float16, 16, sentences)
save("wordlevel", word_level(corpus), np.float32, 16, sentences)
