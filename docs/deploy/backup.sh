#!/usr/bin/env bash
# The workspace and all views as one archive. Stop the dashboard first: systemctl stop rubric-editor
set -euo pipefail
STATE=${STATE:-/var/lib/rubric}
BACKUPS=${BACKUPS:-/var/backups/rubric}

umask 077
mkdir -p "$BACKUPS"
archive="$BACKUPS/rubric-$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
tar --create --gzip --file "$archive.part" --directory "$STATE" workspace views
mv "$archive.part" "$archive"
echo "$archive"
