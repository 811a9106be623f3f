#!/usr/bin/env bash
# Compares what this program makes of models, adapters and training with what
# transformers and PEFT make of them, both ways, in an environment of its own.
# Needs Python 3.11 and, the first time, PyPI: two gigabytes, as torch for Linux
# comes with CUDA's libraries only. Nothing of it is part of `make test`, which
# reads the small goldens that --update leaves in internal/lora/train/testdata and
# internal/tokens/testdata.
#
#   scripts/lora-parity.sh            compare, with goldens that are made anew
#   scripts/lora-parity.sh --update   and keep them
#   scripts/lora-parity.sh bench      speed beside llama.cpp and PyTorch; builds
#                                     llama-cpp-python from source the first time
set -euo pipefail
cd "$(dirname "$0")/.."
work=.cache/parity
python=$work/venv/bin/python
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error PYTHONWARNINGS=ignore

# The versions that the goldens are of.
packages=(torch==2.15.0 transformers==5.24.0 peft==0.21.2 safetensors==0.8.0)

if ! "$python" -c 'import torch, transformers, peft' 2>/dev/null; then
  echo "making $work/venv: about two gigabytes"
  mkdir -p "$work"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" --no-cache-dir install -q "${packages[@]}"
fi

if [ "${1:-}" = bench ]; then
  if ! "$python" -c 'import llama_cpp, gguf' 2>/dev/null; then
    echo "building llama-cpp-python"
    # GGUF files are made by the package gguf.
    CMAKE_ARGS="-DGGML_NATIVE=ON -DLLAMA_CURL=OFF -DLLAVA_BUILD=OFF" CMAKE_BUILD_PARALLEL_LEVEL="${JOBS:-1}" \
      "$work/venv/bin/pip" --no-cache-dir install -q llama-cpp-python gguf
  fi
  exec "$python" scripts/lora-parity/bench.py "$work/bench"
fi

rm -rf "$work/made"
mkdir -p "$work/made"
go run ./scripts/lora-parity "$work/made/ours"
"$python" scripts/lora-parity/make.py "$work/made/ours" "$work/made/theirs"
LORA_PARITY="$PWD/$work/made" go test ./internal/lora/train -run 'PEFT' -count=1 -v | grep -v '^=== '
cp -r internal/tokens/testdata "$work/made/tokens"
"$python" scripts/lora-parity/templates.py "$work/made/tokens"
cmp "$work/made/tokens/templates.json" internal/tokens/testdata/templates.json && echo "templates: as before"

if [ "${1:-}" = --update ]; then
  rm -rf internal/lora/train/testdata/parity
  mkdir -p internal/lora/train/testdata/parity
  cp -r "$work/made/ours" "$work/made/theirs" internal/lora/train/testdata/parity/
  cp "$work/made/tokens/templates.json" internal/tokens/testdata/
fi
