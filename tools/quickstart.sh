#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds the library and the rownorm command, and normalises the activations in
# tools/sample/ with their model's own gain: a Llama-style add + RMSNorm and a BERT-style LayerNorm. Prints ISA,
# time, GB/s, the largest error in ulp against the reference, and where the output is.
set -eu
cd "$(dirname "$0")/.."

sh tools/install-deps.sh build tests # the preset configures the tests too
cmake --preset release
cmake --build --preset release --target rownorm rownorm_program

rownorm=build/release/bin/rownorm
sample=tools/sample
out=build/sample
mkdir -p "$out"

printf '\nInstruction sets:\n'
"$rownorm" isa

printf '\nLlama: residual += x; y = RMSNorm(residual) * gain\n'
"$rownorm" normalize "$sample/llama_x.npy" -o "$out/llama_y.npy" --force --op rms --eps 9.999999747378752e-06 \
    --residual "$sample/llama_residual.npy" --residual-out "$out/llama_residual.npy" --weight "$sample/llama_gain.npy"
"$rownorm" diff "$out/llama_residual.npy" "$sample/llama_residual_out.npy"
"$rownorm" diff "$out/llama_y.npy" "$sample/llama_y.npy" --ulp 8

printf '\nBERT: residual += x; y = LayerNorm(residual) * gain + bias\n'
"$rownorm" normalize "$sample/bert_x.npy" -o "$out/bert_y.npy" --force --op layer --eps 1e-12 \
    --residual "$sample/bert_residual.npy" --residual-out "$out/bert_hidden.npy" \
    --weight "$sample/bert_gain.npy" --bias "$sample/bert_bias.npy"
"$rownorm" diff "$out/bert_hidden.npy" "$sample/bert_hidden.npy"
# A bias may cancel the rest: an element near 0 keeps the rounding of its larger terms, many ulp of its own.
"$rownorm" diff "$out/bert_y.npy" "$sample/bert_y.npy" --ulp 2000
echo "  (the largest are elements near 0, where gain and bias cancel)"

printf '\nThe results are in %s.\n' "$PWD/$out"
