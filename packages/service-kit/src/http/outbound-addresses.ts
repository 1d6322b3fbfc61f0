import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { z } from 'zod';
import { SafeError } from '../process/safe-error.ts';
import { parseAddress } from './network.ts';

/**
 * The URL of an external server. Only short ASCII is parsed, because the time to parse a host name grows with the square of
 * its combining marks.
 */
export const webAddress = z
  .string()
  .max(500, { abort: true })
  // URL parsers remove line breaks and turn backslashes into slashes, so the parsed URL would differ from the stored one.
  .refine((url) => /^[!-[\]-~]*$/.test(url), {
    error: 'must be printable ASCII without backslashes; write the host in Punycode',
    abort: true,
  })
  .check(z.url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true }))
  .refine((url) => {
    const { username, password } = new URL(url);
    return username === '' && password === '' && !/[?#]/.test(url);
  }, 'must have no credentials, query or fragment');

/** Which addresses may be requested: those of the public internet, or any. */
export type Addresses = 'public' | 'any';

/** The host has an address that may not be requested. */
export class PrivateAddress extends SafeError {
  constructor() {
    super('The host has a private address.');
  }
}

/** The IPv6 network of all global unicast addresses is this address with the prefix length 3 (IANA, RFC 4291 section 2.4). */
const globalUnicast = parseAddress('2000::');

/**
 * Whether an IP address belongs to the public internet (IANA special-purpose registries, RFC 6890). With `allowNames` also
 * true for a host name except localhost; its addresses are checked when it is resolved.
 */
export const isPublicAddress = (host: string, allowNames = false): boolean => {
  if (isIP(host) === 0) return allowNames && !/(?:^|\.)localhost\.?$/i.test(host);
  const address = parseAddress(host);
  if (address?.range() !== 'unicast' || globalUnicast === undefined) return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast, 3);
};

/**
 * Creates a DNS look-up that returns only public addresses. It runs while connecting, so that DNS rebinding cannot replace an
 * address after the check (SSRF). It queries the name servers directly and ignores the hosts file: `dns.lookup` uses only two
 * threads, so look-ups at a silent name server would block those of our database connections.
 */
export const createPublicLookup = (servers?: readonly string[]): LookupFunction => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers) resolver.setServers(servers);
  const addressesOf = async (host: string): Promise<LookupAddress[]> => {
    const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = families.flatMap((result, index) =>
      result.status === 'fulfilled'
        ? result.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
        : [],
    );
    const [failure] = families.filter(({ status }) => status === 'rejected');
    if (addresses.length === 0) throw (failure as PromiseRejectedResult | undefined)?.reason;
    if (!addresses.every(({ address }) => isPublicAddress(address))) throw new PrivateAddress();
    return addresses;
  };
  const lookup = callbackify(addressesOf);
  return (host, { all }, done) =>
    lookup(host, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return done(error, []);
      return all ? done(null, addresses) : done(null, first.address, first.family);
    });
};
