#!/usr/bin/env bash
# Put an archive of backup.sh back: restore.sh ARCHIVE. Stop both servers first. What was there is kept beside it.
set -euo pipefail
STATE=${STATE:-/var/lib/rubric}
archive=$1

fresh=$(mktemp --directory "$STATE/restore.XXXXXX")
tar --extract --gzip --same-permissions --file "$archive" --directory "$fresh"
for part in workspace views; do
  [ ! -e "$STATE/$part" ] || mv --no-target-directory "$STATE/$part" "$fresh/$part.before"
  mv --no-target-directory "$fresh/$part" "$STATE/$part"
done
echo "$fresh"
