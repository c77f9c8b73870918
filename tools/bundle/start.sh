#!/bin/sh
# Starts the course on Linux, and under the name start.command on macOS. setup/start.py does the work.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
while read -r version; do
    pythons="$pythons python$version"
done < "$here/setup/pythons.txt"
for python in $pythons python3 python; do
    found="$found $("$python" "$here/setup/fits.py" 2> /dev/null)" && exec "$python" "$here/setup/start.py" "$@"
done
cat "$here/setup/needed.txt" >&2
echo "Python:${found:- -}" >&2
exit 1
