import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

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

/**
 * The network that a client address counts for in limits: the IPv4 address itself, or the IPv6 /64
 * (for example `2001:db8:1:2::/64`), because every IPv6 client can use any of the 2^64 addresses of
 * its network. `unknown` when the input is not an IP address.
 */
export const networkOf = (address: string | undefined): string => {
  // Nearly all are; parsing them would cost more than the rest of the limit.
  if (address !== undefined && isIPv4(address)) return address;
  const parsed = parseAddress(address);
  if (parsed === undefined) return 'unknown';
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
};
