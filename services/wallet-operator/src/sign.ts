/**
 * `pnpm --filter wallet-operator sign <callback> ['{"playerId":"demo-1"}'] [--url …] [--secret …]`: prints a signed curl.
 * The signature is good for as long as the service tolerates old timestamps: 30 s.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createRequestSignatures } from '@platform/auth/hmac';
import { localWallet } from './env.ts';

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { url: { type: 'string' }, secret: { type: 'string' } },
});
const [callback = 'balance', json = '{"playerId":"demo-1"}'] = positionals;
const local = localWallet();
const secret = values.secret ?? local.secret;
if (secret === undefined) throw new Error('give --secret or HMAC_SECRET, or start the stack first');

const fields = JSON.parse(json) as Record<string, unknown>;
const body = JSON.stringify({ requestId: randomUUID(), ...fields });
const url = new URL(values.url ?? local.url);
const path = `${url.pathname.replace(/\/$/, '')}/callback/${callback}`;
const { timestamp, signature } = createRequestSignatures({ secrets: { current: secret } }).sign(path, body);

/** For a shell: nothing between the quotes is read by it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const parts = [
  `curl -sw '\\n' ${quoted(new URL(path, url).href)}`,
  `-H 'Content-Type: application/json'`,
  `-H 'X-Timestamp: ${timestamp}'`,
  `-H 'X-HMAC-SHA256: ${signature}'`,
  `-d ${quoted(body)}`,
];
process.stdout.write(`${parts.join(' ')}\n`);
