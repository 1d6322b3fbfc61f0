import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';
import { createLru } from '../process/lru.ts';

/**
 * Parses an IP address; undefined if the text is not one. An IPv4 address that a dual-stack socket reports as IPv6
 * (`::ffff:192.0.2.1`) becomes the IPv4 address. A zone id is dropped.
 */
export const parseAddress = (text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  // isIP first, because ipaddr.js also accepts old IPv4 notations such as 0300.1.1 or a plain number.
  if (text === undefined || isIP(text) === 0) return undefined;
  // ipaddr.js reads the deprecated `::192.0.2.1` (RFC 4291 section 2.5.5.1) as `::ffff:192.0.2.1`.
  if (/^::\d+\./.test(text)) return undefined;
  const [address = ''] = text.split('%');
  return ipaddr.process(address);
};

/** A network whose requests are counted together by limits. */
export interface Network {
  /** An IPv4 address, an IPv6 network such as `2001:db8:1:2::/64`, or `unknown`. */
  name: string;
  /** Multiple of the limit of the narrowest network, because a wider network has more clients. */
  factor: number;
}

/** IPv6 prefix lengths, from the link of one client to the site that a provider assigns (RFC 6177). */
const ipv6Prefixes = [
  { length: 64, factor: 1 },
  { length: 56, factor: 4 },
  { length: 48, factor: 16 },
] as const;

/** The prefix of NAT64 addresses, whose last 32 bits are an IPv4 address (RFC 6052 section 2.1). */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Replaces a NAT64 address by its IPv4 address, because all IPv4 hosts share the /96 of NAT64. */
const withoutNat64 = (address: ReturnType<typeof parseAddress>): ReturnType<typeof parseAddress> =>
  address instanceof ipaddr.IPv6 && address.match(nat64)
    ? new ipaddr.IPv4(address.toByteArray().slice(12))
    : address;

const parseNetworks = (address: string): readonly [Network, ...Network[]] => {
  const parsed = withoutNat64(parseAddress(address));
  if (!(parsed instanceof ipaddr.IPv6)) return [{ name: parsed?.toString() ?? 'unknown', factor: 1 }];
  const [link, ...sites] = ipv6Prefixes;
  const networkAt = ({ length, factor }: (typeof ipv6Prefixes)[number]): Network => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${length}`);
    return { name: `${network.toString()}/${length}`, factor };
  };
  return [networkAt(link), ...sites.map(networkAt)];
};

/** Cached, because every request needs its networks and parsing takes microseconds. */
const parsedNetworks = createLru(10_000, 0, parseNetworks);

/**
 * The networks for which limits count a client address, narrowest first. For IPv4: the address itself. For IPv6: the /64,
 * whose 2^64 addresses one client can use, and the /56 and /48 that a provider may assign to one customer (docs/adr/0076).
 * The IPv6 address of an IPv4 host behind NAT64 counts as the IPv4 address.
 */
export const networksOf = (address = ''): readonly [Network, ...Network[]] =>
  isIPv4(address) ? [{ name: address, factor: 1 }] : parsedNetworks.memo(address);

/**
 * The names of the networks of a client address, widest first. Fair queues group clients by them, so that a customer with
 * many IPv6 /64 networks is one client.
 */
export const networkPathOf = (address?: string): readonly string[] =>
  networksOf(address)
    .map(({ name }) => name)
    .toReversed();

/** The narrowest network of a client address; `unknown` when the input is not an IP address. */
export const networkOf = (address?: string): string => networksOf(address)[0].name;

/** The widest network of a client address, which contains its other networks; `unknown` when it is not an IP address. */
export const widestNetworkOf = (address?: string): string => networksOf(address).at(-1)?.name ?? 'unknown';

const maxAddresses = 10_000;

/** Returns the address of the client that sent a request. */
export type ClientAddress = (req: IncomingMessage) => string;

/**
 * Creates a function that finds the client address: it follows X-Forwarded-For from the socket outwards while each hop is
 * one of `trusted` (addresses, networks in CIDR notation, or the names of Express's `trust proxy`).
 */
export const createClientAddress = (trusted: readonly string[]): ClientAddress => {
  const compare = proxyAddr.compile([...trusted]);
  // Cached, because comparing costs 1.5 µs a request, and nearly all requests come from the same few addresses.
  const trustCache = createLru<string, boolean>(maxAddresses, 0, (address) => compare(address, 0));
  const isTrusted = (address: string): boolean => trustCache.memo(address);
  return (req) => {
    const { 'x-forwarded-for': forwarded } = req.headers;
    const { remoteAddress = '' } = req.socket;
    if (forwarded === undefined) return remoteAddress;
    // The gateway sends one address. It need not be split, which would cost 1.5 µs a request.
    if (typeof forwarded === 'string' && /^[\da-fA-F:.]+$/.test(forwarded))
      return isTrusted(remoteAddress) ? forwarded : remoteAddress;
    return proxyAddr(req, isTrusted) ?? '';
  };
};

/**
 * Runs first for every request: removes X-Forwarded-* unless the request has a secret that the service shares with its
 * gateway, so that only the gateway can state the client address. With no secrets configured, they are always removed. Also
 * removes X-Gateway-Secret, the header with the secret, so that it is never logged.
 */
export const behindGateway = (next: RequestListener, secrets: readonly string[]): RequestListener => {
  const acceptedSecrets = secrets.map((secret) => Buffer.from(secret));
  const isGateway = ({ headers }: IncomingMessage): boolean => {
    const header = headers['x-gateway-secret'];
    if (typeof header !== 'string') return false;
    const sentSecret = Buffer.from(header);
    // Takes constant time, except for the length, which is not secret.
    return acceptedSecrets.some(
      (secret) => sentSecret.length === secret.length && timingSafeEqual(sentSecret, secret),
    );
  };
  return (req, res) => {
    const { headers } = req;
    // Only a proxy should set these headers, but any client can. Set to undefined and not deleted, because deleting makes
    // later accesses of the object slow.
    if (!isGateway(req)) {
      if (headers['x-forwarded-for'] !== undefined) headers['x-forwarded-for'] = undefined;
      if (headers['x-forwarded-host'] !== undefined) headers['x-forwarded-host'] = undefined;
      if (headers['x-forwarded-proto'] !== undefined) headers['x-forwarded-proto'] = undefined;
    }
    if (headers['x-gateway-secret'] !== undefined) headers['x-gateway-secret'] = undefined;
    next(req, res);
  };
};
