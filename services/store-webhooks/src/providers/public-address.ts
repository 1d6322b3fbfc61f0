import { isIP } from 'node:net';
import { parseAddress } from '@platform/service-kit/network';

/** All global unicast addresses of IPv6 (IANA, RFC 4291 section 2.4). */
const globalUnicast = parseAddress('2000::');

/**
 * Whether an address belongs to the public internet (IANA special-purpose registries, RFC 6890).
 * `names`: also true for a host name, which is resolved and checked later.
 */
export const isPublicAddress = (host: string, names = false): boolean => {
  if (isIP(host) === 0) return names;
  const address = parseAddress(host);
  if (address?.range() !== 'unicast' || globalUnicast === undefined) return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast, 3);
};
