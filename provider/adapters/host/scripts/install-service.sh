#!/bin/sh
# in:  K0S, ROLE (controller or worker), FLAGS (one a line, no secrets)
# out: nothing of use. Fails, as k0s does, if the service is there already.

set -- install "$ROLE"
while IFS= read -r flag; do
    [ -z "$flag" ] || set -- "$@" "$flag"
done <<END
$FLAGS
END
"$K0S" "$@"
