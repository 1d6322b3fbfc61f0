import { BlockList, isIP, SocketAddress } from 'node:net';

interface Network {
  address: string;
  family: 'ipv4' | 'ipv6';
  prefix: number;
}

/** One spelling for one address; an IPv4 address that came over an IPv6 socket is the IPv4 address. */
const plain = (address: string): { address: string; family: 'ipv4' | 'ipv6' } | undefined => {
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return { address, family: 'ipv4' };
  const [bare = ''] = address.split('%', 1);
  const canonical = new SocketAddress({ address: bare, family: 'ipv6' }).address;
  const mapped = canonical.startsWith('::ffff:') ? canonical.slice(7) : '';
  return isIP(mapped) === 4 ? { address: mapped, family: 'ipv4' } : { address: canonical, family: 'ipv6' };
};

const parse = (text: string): Network | undefined => {
  const [, base = '', digits] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const given = isIP(base);
  const found = plain(base);
  if (found === undefined) return undefined;
  const unmapped = given === 6 && found.family === 'ipv4' ? 96 : 0;
  const bits = found.family === 'ipv4' ? 32 : 128;
  const prefix = digits === undefined ? bits : Number(digits) - unmapped;
  return prefix >= 0 && prefix <= bits ? { ...found, prefix } : undefined;
};

/** Whether this is an address or a network in CIDR notation (RFC 4632, RFC 4291). */
export const isNetwork = (text: string): boolean => parse(text) !== undefined;

/** Tells whether an address lies in one of the networks. What is no address lies in none. */
export type AddressList = (address: string | undefined) => boolean;

/** Throws an Error that names the entry that is no network. */
export const createAddressList = (networks: readonly string[]): AddressList => {
  const list = new BlockList();
  for (const text of networks) {
    const network = parse(text);
    if (network === undefined) throw new Error(`${JSON.stringify(text)} is no address and no network.`);
    list.addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => {
    const found = address === undefined ? undefined : plain(address);
    return found !== undefined && list.check(found.address, found.family);
  };
};

/**
 * Whom an address stands for when attempts are counted: an IPv4 address, or an IPv6 /64, since
 * everybody who has one IPv6 address has 2^64 of them.
 */
export const networkOf = (address: string | undefined): string => {
  const found = address === undefined ? undefined : plain(address);
  if (found?.family !== 'ipv6') return found?.address ?? 'unknown';
  const [head = '', tail = ''] = found.address.split('::', 2);
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
};
