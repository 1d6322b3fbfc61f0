/**
 * `pnpm --filter wallet-operator sign <callback> ['{"playerId":"demo-1"}'] [--url …] [--secret …]`: prints a signed curl.
 * The signature is good for as long as the service tolerates old timestamps: 30 s.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
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
const headers = createRequestSignatures({ secrets: { current: secret } }).headers(path, body);

/** For a shell: nothing between the quotes is read by it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const parts = [
  `curl -sw '\\n' ${quoted(new URL(path, url).href)}`,
  `-H 'Content-Type: application/json'`,
  ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
  `-d ${quoted(body)}`,
];
process.stdout.write(`${parts.join(' ')}\n`);
