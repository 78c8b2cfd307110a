#!/bin/sh
# in:  K0S, DATA_DIR, ID (the part before the dot)
# out: nothing of use. A token that is gone already is fine.

limited 60 "$K0S" token invalidate --data-dir="$DATA_DIR" "$ID"
