import { generateKeyPairSync, sign } from 'node:crypto';
import { chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@platform/local/postgres';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { Unavailable } from '../src/http/problem.ts';
import { openDatabase } from '../src/database/database.ts';
import { withDeadline } from '../src/overload/request-scope.ts';

/** A value in DER (X.690): tag, length, content. */
const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  return Buffer.concat([
    Buffer.from(length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff]),
    content,
  ]);
};

/** A private key and the shortest certificate for it that is valid (RFC 5280: version 1, no names), both PEM. */
const selfSigned = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [sequence, noName] = [0x30, der(0x30)];
  const ecdsaWithSha256 = Buffer.from('300a06082a8648ce3d040302', 'hex');
  const dates = ['200101000000Z', '491231235959Z'].map((date) => der(0x17, Buffer.from(date)));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const serial = der(0x02, Buffer.of(1));
  const content = der(sequence, serial, ecdsaWithSha256, noName, der(sequence, ...dates), noName, spki);
  const signature = der(0x03, Buffer.of(0), sign('sha256', content, privateKey));
  const certificate = der(sequence, content, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
};

/** A PostgreSQL that offers TLS; the URL asks for it. */
const startTlsPostgres = async () => {
  const server = await startPostgres();
  const { key, certificate } = selfSigned();
  const { uid, gid } = await stat(server.dataDir);
  for (const [name, content] of [
    ['server.key', key],
    ['server.crt', certificate],
  ] as const) {
    const file = join(server.dataDir, name);
    await writeFile(file, content, { mode: 0o600 });
    await chown(file, uid, gid);
  }
  const sql = postgres(server.url, { max: 1 });
  await sql`alter system set ssl = on`;
  await sql`select pg_reload_conf()`;
  await sql.end();
  return { url: `${server.url}?sslmode=require`, [Symbol.asyncDispose]: server.stop };
};

test('over TLS a statement past its deadline is cancelled, and its connection is used again', async () => {
  await using server = await startTlsPostgres();
  await using database = openDatabase({ url: server.url, name: 'tls', max: 1 });
  const { sql } = database;
  const usesTls = async () => {
    const [row] = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.['ssl'];
  };
  await expect.poll(() => usesTls().catch(() => undefined)).toBe(true);
  const tooSlow = () => new Unavailable('too_slow', 'Too slow.');
  const slow = withDeadline(200, tooSlow, async () => sql`select pg_sleep(60)`);
  await expect(slow).rejects.toMatchObject({ code: 'too_slow' });
  expect(await usesTls()).toBe(true);
});
