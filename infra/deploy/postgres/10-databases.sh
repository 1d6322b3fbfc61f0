#!/bin/sh
# Run once, by the official image, when the data folder is new: a database and two roles for each service.
# The passwords are files, and go no further than psql in this container.
set -eu
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --file /postgres/server.sql
for file in /run/secrets/*-owner-password; do
  service=$(basename "$file" -owner-password)
  name=$(echo "$service" | tr - _)
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set name="$name" --set owner="${name}_owner" \
    --set password="$(cat "/run/secrets/$service-password")" \
    --set owner_password="$(cat "/run/secrets/$service-owner-password")" \
    --file /postgres/database.sql
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$name" \
    --set name="$name" --set owner="${name}_owner" --file /postgres/grants.sql
done
