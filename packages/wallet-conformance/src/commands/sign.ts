import { UsageError } from '@platform/program';
import type { Command } from './target.ts';
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { callbackPath } from '../certify/wallet.ts';
import { say } from '@platform/program/terminal';
import { defaultWallet } from '../env.ts';

const usage = `sign <callback> ['{"playerId":"demo-1"}'] [--url …] [--secret …]: prints a signed curl command, which is valid for 30 s\n`;

/** Quotes a text for a shell. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const run = async (args: string[]): Promise<number> => {
  const local = defaultWallet();
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { url: { type: 'string', default: local.url }, secret: { type: 'string' } },
  });
  const [callback = 'balance', json = '{"playerId":"demo-1"}'] = positionals;
  const secret = values.secret ?? local.secret;
  if (secret === undefined)
    throw new UsageError('set --secret or HMAC_SECRET, or start the local stack first');
  const fields = JSON.parse(json) as Record<string, unknown>;
  const body = JSON.stringify({ requestId: randomUUID(), ...fields });
  const url = new URL(values.url);
  const path = callbackPath(url, callback);
  const headers = createRequestSignatures({ secrets: { current: secret } }).headers(path, body);
  const options = Object.entries({ 'Content-Type': 'application/json', ...headers }).map(
    ([name, value]) => `-H '${name}: ${value}'`,
  );
  say(
    [`curl -sw '\\n' ${shellQuote(new URL(path, url).href)}`, ...options, `-d ${shellQuote(body)}`].join(' '),
  );
  return 0;
};

export const signCommand: Command = { usage, run };
