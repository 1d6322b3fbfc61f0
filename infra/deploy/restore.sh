#!/bin/sh
# Restores a backup of backup.sh from the folder BACKUP into a new PostgreSQL. See docs/backup.md.
set -eu
cd "$(dirname "$0")"
prepared=${PREPARED:-prepared}
databases=$(cat "$BACKUP/databases")
for file in prepared.tar $(printf '%s.dump ' $databases); do
  test -s "$BACKUP/$file"
done
# Existing files on this machine are not replaced.
if [ ! -e "$prepared/secrets" ]; then mkdir -p "$prepared"; tar -C "$prepared" -xpf "$BACKUP/prepared.tar"; fi
if [ -e "$BACKUP/env" ] && [ ! -e .env ]; then cp "$BACKUP/env" .env; fi
for spool in "$BACKUP"/*.spool.tar; do
  test -e "$spool" || continue
  service=$(basename "$spool" .spool.tar)
  docker compose run --rm -T --no-deps "$service" tar -C /repo/data --skip-old-files -xf - < "$spool"
done
docker compose up --wait postgres
for database in $databases; do
  docker compose exec -T postgres pg_restore --username postgres --dbname "$database" --exit-on-error --single-transaction < "$BACKUP/$database.dump"
done
# Users have newer refresh tokens than the backup, and each would look like a stolen one that is used again.
if echo "$databases" | grep -qx task_manager; then
  docker compose exec -T postgres psql --username postgres --quiet --dbname task_manager --command 'delete from task_manager.sessions'
fi
docker compose exec -T postgres vacuumdb --username postgres --all --analyze-only --quiet
docker compose up --wait
