#!/bin/sh
# Writes nginx directives with the secret by which the services recognise the gateway and with the name servers of this
# container, then starts nginx.
set -eu
secret=$(cat "${GATEWAY_SECRET_FILE:?must be the path of the file with the secret}")
# During a rotation the file has two secrets, which services accept; the gateway sends the first one.
secret=${secret%%,*}
case $secret in
  '' | *[!A-Za-z0-9_-]*)
    echo 'GATEWAY_SECRET_FILE: the secret must consist of A-Z, a-z, 0-9, _ and -' >&2
    exit 1
    ;;
esac
umask 077
printf 'proxy_set_header X-Gateway-Secret "%s";\n' "$secret" >/tmp/nginx/gateway-secret.conf
# Recreated and added instances have new addresses, so nginx looks up names again every 2 s.
servers=$(awk '$1 == "nameserver" { print $2 ~ /:/ ? "[" $2 "]" : $2 }' /etc/resolv.conf)
echo "resolver $(echo $servers) valid=2s;" >/tmp/nginx/resolver.conf
exec nginx -p /tmp/nginx -e stderr -c /etc/gateway/nginx.conf "$@"
