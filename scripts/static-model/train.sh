#!/bin/sh
# Trains a static embedding model from the texts of this machine into
# .cache/static-model; train.py tells how. Needs Python 3.10 or later with pip.
#
#   scripts/static-model/train.sh [FOLDER OF MORE TEXTS…]
set -eu
cd "$(dirname "$0")/../.."
mkdir -p .cache
python=.cache/static-model-python/bin/python
if [ ! -x "$python" ]; then
	python3 -m venv .cache/static-model-python
	"$python" -m pip install --quiet 'model2vec==0.10.*' 'tokenizers<1' 'numpy<3' 'scipy<2'
fi
exec "$python" scripts/static-model/train.py .cache/static-model "$@"
