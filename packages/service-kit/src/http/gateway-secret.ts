import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** What a proxy says about the client; anybody can send these headers. */
const forwarded = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'] as const;

/**
 * Runs first for every request: removes X-Forwarded-* from requests that do not carry the secret that this service
 * shares with its gateway, so that only the gateway can say who the client is. Without a secret nobody can. The header
 * with the secret, X-Gateway-Secret, goes no further, so that it is never logged.
 */
export const behindGateway = (next: RequestListener, secret: string | undefined): RequestListener => {
  const expected = secret === undefined ? undefined : digest(secret);
  const isGateway = ({ headers }: IncomingMessage): boolean => {
    const sent = headers['x-gateway-secret'];
    return expected !== undefined && typeof sent === 'string' && timingSafeEqual(digest(sent), expected);
  };
  return (req, res) => {
    if (!isGateway(req)) for (const name of forwarded) delete req.headers[name];
    delete req.headers['x-gateway-secret'];
    next(req, res);
  };
};
