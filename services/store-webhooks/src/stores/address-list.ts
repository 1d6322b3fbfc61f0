import { isIP } from 'node:net';
import { parseAddress } from '@platform/service-kit/network';

type Address = NonNullable<ReturnType<typeof parseAddress>>;
type Network = [base: Address, prefixLength: number];

/** Parses `192.0.2.0/24`, `2001:db8::/48` or a single address; undefined for anything else. */
const parseNetwork = (text: string): Network | undefined => {
  const [base = '', length, ...extraParts] = text.split('/');
  const address = base.includes('%') ? undefined : parseAddress(base);
  if (address === undefined || extraParts.length > 0) return undefined;
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  if (length === undefined) return [address, bits];
  if (!/^(0|[1-9]\d{0,2})$/.test(length)) return undefined;
  // `::ffff:192.0.2.0/124` is 192.0.2.0/28: the first 96 bits only mark it as an IPv4 address.
  const prefixLength = Number(length) - (isIP(base) === 6 && bits === 32 ? 96 : 0);
  return prefixLength >= 0 && prefixLength <= bits ? [address, prefixLength] : undefined;
};

/** Whether `text` is an IP address or a network in CIDR notation (RFC 4632, RFC 4291). */
export const isNetwork = (text: string): boolean => parseNetwork(text) !== undefined;

/** Whether an address is in one of the networks; false when it is not an IP address. */
export type AddressList = (address: string | undefined) => boolean;

/** Creates the list. Throws an Error that names the first entry that is neither an address nor a network. */
export const createAddressList = (entries: readonly string[]): AddressList => {
  const networks = entries.map((text) => {
    const network = parseNetwork(text);
    if (network === undefined) throw new Error(`${JSON.stringify(text)} is not an IP address or a network.`);
    return network;
  });
  return (text) => {
    const address = parseAddress(text);
    return (
      address !== undefined &&
      networks.some(([base, length]) => base.kind() === address.kind() && address.match(base, length))
    );
  };
};
