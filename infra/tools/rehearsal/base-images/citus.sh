#!/bin/sh
# Creates a Debian root folder with PostgreSQL 18, Citus 14, Patroni and etcd for `pnpm test:citus` and the
# failover rehearsal. Debian has no Citus package, so it is built from source: CITUS_SOURCE, a folder or a tar file.
#
#   sudo CITUS_SOURCE=citus-14.0.1.tar.gz infra/tools/rehearsal/base-images/citus.sh /var/lib/citus-root
#
# Needs root, mmdebstrap and a mirror of Debian (MIRROR).
set -eu
root=${1:?the folder to create}
: "${CITUS_SOURCE:?the source of Citus 14: a folder or a tar file}"

headers=gcc,make,libc6-dev,libcurl4-openssl-dev,libicu-dev,libkrb5-dev,liblz4-dev,libpam0g-dev,libreadline-dev
headers=$headers,libselinux1-dev,libssl-dev,libxml2-dev,libxslt1-dev,libzstd-dev,zlib1g-dev
# The package lists of mirror snapshots have expired.
mmdebstrap --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
  --include="postgresql-18,postgresql-server-dev-18,patroni,python3-etcd,etcd-server,$headers" \
  forky "$root" "${MIRROR:-http://deb.debian.org/debian}"

mkdir "$root/usr/src/citus"
# Keep file times: make compares them.
if [ -d "$CITUS_SOURCE" ]; then
  cp --archive "$CITUS_SOURCE/." "$root/usr/src/citus"
else
  tar --extract --file "$CITUS_SOURCE" --directory "$root/usr/src/citus" --strip-components=1
fi
chroot "$root" nice sh -euc '
  cd /usr/src/citus
  ./configure --quiet PG_CONFIG=/usr/lib/postgresql/18/bin/pg_config
  make --silent --jobs="$(nproc)" with_llvm=no install-all
  rm -r /usr/src/citus'
# The test servers run as another user, who can write only to `data`.
chmod 755 "$root"
mkdir --mode=1777 "$root/data"
