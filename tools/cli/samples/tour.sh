#!/usr/bin/env bash
# What docs/cli.md shows. tour_test.py runs it in a folder with model.safetensors, the program on PATH.
set -euo pipefail

# sample: look
hurray ls model.safetensors
hurray ls model.safetensors 'layers.*.weight'
hurray inspect model.safetensors layers.0.weight
hurray cat model.safetensors layers.0.weight --slice ':2, -4:'
# end sample

# sample: check
hurray verify model.safetensors
hurray stats model.safetensors
# end sample

# sample: convert
hurray convert model.safetensors model.hrry
hurray convert --quantize per_block_affine:int8,block=32 model.safetensors int8.hrry
hurray convert --dequantize float16 int8.hrry half.safetensors
hurray convert --layout tiled:16x16 --only 'layers.*' model.hrry tiled.hrry
# end sample

# sample: compare
hurray diff model.safetensors model.hrry
hurray diff --values-only --atol 0.01 model.safetensors int8.hrry
# end sample

# sample: pipes
hurray convert model.hrry - | hurray convert - copy.hrry
hurray cat --format npy model.hrry layers.0.weight > weight.npy
hurray ls --json model.hrry | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["tensors"]))'
# end sample

# sample: scripts
if hurray verify model.hrry > problems.txt; then
  echo "model.hrry is good"
else
  code=$?
  if ((code == 1)); then cat problems.txt; else echo "not a file that can be read ($code)"; fi
fi
# end sample
