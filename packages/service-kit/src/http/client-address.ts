import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
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
  const known = createLru<string, boolean>(maxAddresses, 0, (address) => compare(address, 0));
  const isTrusted = (address: string): boolean => known.memo(address);
  return (req) => {
    const { 'x-forwarded-for': forwarded } = req.headers;
    const { remoteAddress = '' } = req.socket;
    if (forwarded === undefined) return remoteAddress;
    // One address, as the gateway sends it, need not be split, which would cost 1.5 µs a request.
    if (typeof forwarded === 'string' && /^[\da-fA-F:.]+$/.test(forwarded))
      return isTrusted(remoteAddress) ? forwarded : remoteAddress;
    return proxyAddr(req, isTrusted) ?? '';
  };
};

/**
 * Runs first for every request: removes X-Forwarded-* from requests that do not carry a secret that this service
 * shares with its gateway, so that only the gateway can say who the client is. Without a secret they are always removed.
 * X-Gateway-Secret, the header with the secret, is removed as well, so that it is never logged.
 */
export const behindGateway = (next: RequestListener, secrets: readonly string[]): RequestListener => {
  const accepted = secrets.map((secret) => Buffer.from(secret));
  const isGateway = ({ headers }: IncomingMessage): boolean => {
    const sent = headers['x-gateway-secret'];
    if (typeof sent !== 'string') return false;
    const secretSent = Buffer.from(sent);
    // In constant time, except for the length, which is no secret.
    return accepted.some(
      (secret) => secretSent.length === secret.length && timingSafeEqual(secretSent, secret),
    );
  };
  return (req, res) => {
    const { headers } = req;
    // What a proxy says about the client; anybody can send these headers. They are not deleted, because that would make
    // every later access of the object slow.
    if (!isGateway(req)) {
      if (headers['x-forwarded-for'] !== undefined) headers['x-forwarded-for'] = undefined;
      if (headers['x-forwarded-host'] !== undefined) headers['x-forwarded-host'] = undefined;
      if (headers['x-forwarded-proto'] !== undefined) headers['x-forwarded-proto'] = undefined;
    }
    if (headers['x-gateway-secret'] !== undefined) headers['x-gateway-secret'] = undefined;
    next(req, res);
  };
};
