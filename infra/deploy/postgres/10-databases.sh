#!/bin/sh
# Creates a database and two roles for each service. The official image runs this if the data folder is new; run it again for
# a new cell. psql reads the passwords from files, because every user of the host can see the arguments of a process.
set -eu
POSTGRES_USER=${POSTGRES_USER:-postgres}
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --file /postgres/server.sql
for file in /run/secrets/*-owner-password; do
  service=$(basename "$file" -owner-password)
  name=$(echo "$service" | tr - _)
  exists="select 1 from pg_database where datname = '$name'"
  if [ "$(psql --no-psqlrc --username "$POSTGRES_USER" --dbname postgres --no-align --tuples-only --command "$exists")" ]; then continue; fi
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set name="$name" --set owner="${name}_owner" <<SQL
\set password \`cat '/run/secrets/$service-password'\`
\set owner_password \`cat '/run/secrets/$service-owner-password'\`
\i /postgres/database.sql
SQL
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$name" \
    --set name="$name" --set owner="${name}_owner" --file /postgres/grants.sql
done
