import { createHmac } from 'node:crypto';
import { gateway } from './browser.ts';
import { stack } from './stack.ts';

/** Sends a signed callback, as the game server does. */
export const callback = async (name: string, body: object): Promise<unknown> => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const text = JSON.stringify(body);
  const signed = createHmac('sha256', stack.demo.wallet.hmacSecret);
  signed.update(`${timestamp}/callback/${name}${text}`);
  const headers = {
    'Content-Type': 'application/json',
    'X-Timestamp': timestamp,
    'X-HMAC-SHA256': signed.digest('hex'),
  };
  return (await fetch(`${gateway}/callback/${name}`, { method: 'POST', headers, body: text })).json();
};
