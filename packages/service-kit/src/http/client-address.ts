import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { createLru } from '../process/lru.ts';

const maxAddresses = 10_000;

/** The address of the client that sent a request. */
export type ClientAddress = (req: IncomingMessage) => string;

/**
 * Follows X-Forwarded-For from the socket outwards as long as each hop is one of `trusted` (addresses,
 * networks in CIDR notation, or the names that Express's `trust proxy` knows).
 */
export const createClientAddress = (trusted: readonly string[]): ClientAddress => {
  const compare = proxyAddr.compile([...trusted]);
  // Parsing and comparing two addresses would cost 1.5 µs a request; nearly all requests come from the same few.
  const known = createLru<string, boolean>(maxAddresses);
  const isTrusted = (address: string, hop: number): boolean => {
    let trusts = known.get(address);
    if (trusts === undefined) known.set(address, (trusts = compare(address, hop)));
    return trusts;
  };
  return (req) => {
    const { 'x-forwarded-for': forwarded } = req.headers;
    const { remoteAddress = '' } = req.socket;
    if (forwarded === undefined) return remoteAddress;
    // One address, as the gateway sends it, need not be split, which would cost 1.5 µs a request.
    if (typeof forwarded === 'string' && /^[\da-fA-F:.]+$/.test(forwarded))
      return isTrusted(remoteAddress, 0) ? forwarded : remoteAddress;
    return proxyAddr(req, isTrusted) ?? '';
  };
};
