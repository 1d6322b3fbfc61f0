import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';

/** The address of the client that sent a request. */
export type ClientAddress = (req: IncomingMessage) => string;

/**
 * Follows X-Forwarded-For from the socket outwards as long as each hop is one of `trusted` (addresses,
 * networks in CIDR notation, or the names that Express's `trust proxy` knows).
 */
export const createClientAddress = (trusted: readonly string[]): ClientAddress => {
  const isTrusted = proxyAddr.compile([...trusted]);
  return (req) =>
    req.headers['x-forwarded-for'] === undefined
      ? (req.socket.remoteAddress ?? '')
      : (proxyAddr(req, isTrusted) ?? '');
};
