import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';
import { createLru } from '../process/lru.ts';

/**
 * Parses an IP address as text; undefined when it is not one. An IPv4 address that a dual-stack
 * socket reports as IPv6 (`::ffff:192.0.2.1`) becomes the IPv4 address, and a zone id is dropped.
 */
export const parseAddress = (text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  // isIP first: ipaddr.js also reads the old spellings of IPv4, such as 0300.1.1 or a plain number.
  if (text === undefined || isIP(text) === 0) return undefined;
  // ipaddr.js takes the deprecated `::192.0.2.1` (RFC 4291 section 2.5.5.1) for `::ffff:192.0.2.1`.
  if (/^::\d+\./.test(text)) return undefined;
  const [address = ''] = text.split('%');
  return ipaddr.process(address);
};

/** A network that limits count by. */
export interface Network {
  /** An IPv4 address, an IPv6 network such as `2001:db8:1:2::/64`, or `unknown`. */
  name: string;
  /** How many times the limit of the narrowest network it may use: more clients share a wider one. */
  factor: number;
}

/** Prefix lengths in IPv6, from one client's link to the site that a provider assigns (RFC 6177). */
const ipv6Prefixes = [
  { length: 64, factor: 1 },
  { length: 56, factor: 4 },
  { length: 48, factor: 16 },
] as const;

/** What a NAT64 gateway makes of an IPv4 address: the address in the last 32 bits (RFC 6052 section 2.1). */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** The client of an address: the IPv4 host behind NAT64, which shares its /96 with all of IPv4. */
const clientOf = (address: ReturnType<typeof parseAddress>): ReturnType<typeof parseAddress> =>
  address instanceof ipaddr.IPv6 && address.match(nat64)
    ? new ipaddr.IPv4(address.toByteArray().slice(12))
    : address;

const parseNetworks = (address: string): readonly [Network, ...Network[]] => {
  const parsed = clientOf(parseAddress(address));
  if (!(parsed instanceof ipaddr.IPv6)) return [{ name: parsed?.toString() ?? 'unknown', factor: 1 }];
  const [link, ...sites] = ipv6Prefixes;
  const networkAt = ({ length, factor }: (typeof ipv6Prefixes)[number]): Network => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${length}`);
    return { name: `${network.toString()}/${length}`, factor };
  };
  return [networkAt(link), ...sites.map(networkAt)];
};

/** Each request asks, and parsing takes microseconds. */
const known = createLru(10_000, 0, parseNetworks);

/**
 * The networks that a client address counts for in limits, the narrowest first. An IPv4 address is one; an IPv6
 * address is in a /64, of which every client can use all 2^64 addresses, and in the /56 and the /48 that a provider may
 * have given to one customer (docs/adr/0076). The IPv6 address of an IPv4 host behind NAT64 counts for that host.
 */
export const networksOf = (address = ''): readonly [Network, ...Network[]] =>
  isIPv4(address) ? [{ name: address, factor: 1 }] : known.memo(address);

/**
 * The names of the networks of a client address, the widest first: the groups by which what clients share is divided, so
 * that a customer with many /64 of IPv6 is still one client.
 */
export const networkPathOf = (address?: string): readonly string[] =>
  networksOf(address)
    .map(({ name }) => name)
    .toReversed();

/** The narrowest network of a client address; `unknown` when the input is not an IP address. */
export const networkOf = (address?: string): string => networksOf(address)[0].name;

/** The widest network of a client address, which all its other networks are in; `unknown` as above. */
export const widestNetworkOf = (address?: string): string => networksOf(address).at(-1)?.name ?? 'unknown';

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
