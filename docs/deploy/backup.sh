#!/usr/bin/env bash
# The workspace and all views as one archive. The dashboard may run: it copies its workspace when it is asked to.
set -euo pipefail
STATE=${STATE:-/var/lib/rubric}
BACKUPS=${BACKUPS:-/var/backups/rubric}
CRUBRIC=${CRUBRIC:-/opt/rubric/.venv/bin/crubric}

umask 077
mkdir -p "$BACKUPS"
fresh=$(mktemp --directory "$BACKUPS/.backup.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
mkdir "$fresh/workspace"
for file in "$STATE"/workspace/*.duckdb; do
  $CRUBRIC backup --workspace "$file" --out "$fresh/workspace/$(basename "$file")" >/dev/null
done
archive="$BACKUPS/rubric-$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
tar --create --gzip --file "$fresh/archive" --directory "$STATE" views --directory "$fresh" workspace
mv "$fresh/archive" "$archive"
echo "$archive"
