import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
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
