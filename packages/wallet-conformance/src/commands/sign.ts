import { randomUUID } from 'node:crypto';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { callbackPath } from '../certify/wallet.ts';
import { say } from '@platform/program/terminal';
import { defineCommand } from './command.ts';
import { expectSecret, walletOptions } from './target.ts';

/** Quotes a text for a shell. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const signCommand = defineCommand({
  usage: `sign <callback> ['{"playerId":"demo-1"}'] [--url …] [--secret …]: prints a signed curl command, which is valid for 30 s\n`,
  options: walletOptions,
  run: async ({ secret, ...values }, [callback = 'balance', json = '{"playerId":"demo-1"}']) => {
    expectSecret(secret);
    const fields = JSON.parse(json) as Record<string, unknown>;
    const body = JSON.stringify({ requestId: randomUUID(), ...fields });
    const url = new URL(values.url);
    const path = callbackPath(url, callback);
    const headers = createRequestSignatures({ secrets: { current: secret } }).headers(path, body);
    const options = Object.entries({ 'Content-Type': 'application/json', ...headers }).map(
      ([name, value]) => `-H '${name}: ${value}'`,
    );
    const address = shellQuote(new URL(path, url).href);
    say([`curl -sw '\\n' ${address}`, ...options, `-d ${shellQuote(body)}`].join(' '));
    return 0;
  },
});
