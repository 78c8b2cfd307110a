#!/bin/sh
# in:  K0S, DATA_DIR, ROLE (controller or worker), EXPIRY (seconds)
# out: the join token (a secret)

limited 60 "$K0S" token create --data-dir="$DATA_DIR" --role="$ROLE" --expiry="${EXPIRY}s"
