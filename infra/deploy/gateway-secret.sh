#!/bin/sh
# Runs one step of the rotation of GATEWAY_SECRET in compose: add, use or retire (docs/deploy.md#rotate-the-secret-of-the-gateway).
set -eu
cd "$(dirname "$0")"
file=${PREPARED:-prepared}/secrets/gateway-secret
secret=$(cat "$file")
case ${1:?add, use or retire}:$secret in
  add:*,*) echo "add: there are already two secrets: use the second one, then retire the first one" >&2; exit 2 ;;
  add:*) secret=$secret,$(openssl rand -hex 32) ;;
  use:*,*) secret=${secret#*,},${secret%,*} ;;
  retire:*,*) secret=${secret%,*} ;;
  use:* | retire:*) echo "$1: there is only one secret: add a second one first" >&2; exit 2 ;;
  *) echo "$1: the steps are add, use and retire" >&2; exit 2 ;;
esac
# Overwrites the same file, because the container of the gateway has it mounted.
chmod 644 "$file"
printf %s "$secret" > "$file"
chmod 444 "$file"
