import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { gateway } from './browser.ts';
import { stack } from './stack.ts';

/** Sends a signed callback, as the game server does. */
export const callback = async (name: string, body: object): Promise<unknown> => {
  const path = `/callback/${name}`;
  const text = JSON.stringify(body);
  const signatures = createRequestSignatures({ secrets: { current: stack.demo.wallet.hmacSecret } });
  const headers = { 'Content-Type': 'application/json', ...signatures.headers(path, text) };
  return (await fetch(gateway + path, { method: 'POST', headers, body: text })).json();
};
