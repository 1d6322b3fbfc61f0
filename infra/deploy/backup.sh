#!/bin/sh
# Saves databases, keys, variables and spools of the running platform into the folder BACKUP. See docs/backup.md.
set -eu
umask 077
cd "$(dirname "$0")"
prepared=${PREPARED:-prepared}
disk=$(dirname "$BACKUP")
test -e "$disk/backup-disk" || { echo "$disk/backup-disk does not exist: the disk is not mounted" >&2; exit 1; }
# Locks the folder until this shell and its programs have ended: two backups would write into the same files.
exec 9< "$prepared"
flock --nonblock 9 || { echo 'another backup is running' >&2; exit 1; }
rm -rf "$BACKUP.new"
mkdir "$BACKUP.new"
date -u +%Y-%m-%dT%H:%M:%S+00:00 > "$BACKUP.new/began"
tar -C "$prepared" -cf "$BACKUP.new/prepared.tar" .
if [ -e .env ]; then cp .env "$BACKUP.new/env"; fi
docker compose config --services > "$BACKUP.new/services"
# Spools are saved before the databases: a webhook that leaves the spool meanwhile is in both, and is stored only once.
# tar exits with 1 if files change. Each cell (store-webhooks-b) has a separate spool; migrations have none.
for service in $(grep -Ex 'store-webhooks(-[a-z0-9]+)?' "$BACKUP.new/services" | grep -v -- -migrate); do
  docker compose run --rm -T --no-deps "$service" \
    sh -c 'tar -C /repo/data -cf - . || test $? -eq 1' < /dev/null > "$BACKUP.new/$service.spool.tar"
  tar -tf "$BACKUP.new/$service.spool.tar" > /dev/null
done
docker compose exec -T postgres psql --username postgres --no-align --tuples-only --command \
  "select datname from pg_database where not datistemplate and datname <> 'postgres'" > "$BACKUP.new/databases"
for database in $(cat "$BACKUP.new/databases"); do
  docker compose exec -T postgres pg_dump --username postgres --format custom "$database" > "$BACKUP.new/$database.dump"
done
if [ -e "$BACKUP" ]; then rm -rf "$BACKUP.previous"; mv "$BACKUP" "$BACKUP.previous"; fi
mv "$BACKUP.new" "$BACKUP"
# The alert BackupOld reads this metric.
echo "platform_backup_timestamp_seconds $(date +%s)" > "$prepared/metrics/backup.prom"
chmod 644 "$prepared/metrics/backup.prom"
