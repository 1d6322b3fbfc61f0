#!/bin/sh
# Writes the secret by which the services recognise the gateway as an nginx directive, then becomes nginx.
set -eu
secret=$(cat "${GATEWAY_SECRET_FILE:?must name the file with the secret}")
case $secret in
  '' | *[!A-Za-z0-9_-]*)
    echo 'GATEWAY_SECRET_FILE: the secret must consist of A-Z, a-z, 0-9, _ and -' >&2
    exit 1
    ;;
esac
umask 077
printf 'proxy_set_header X-Gateway-Secret "%s";\n' "$secret" >/tmp/nginx/gateway-secret.conf
exec nginx -p /tmp/nginx -e stderr -c /etc/gateway/nginx.conf "$@"
