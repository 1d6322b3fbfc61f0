import { isIP } from 'node:net';
import { createAddressList } from '@platform/auth/addresses';

/** Networks that are not the public internet (IANA special-purpose registries, RFC 6890). */
const isSpecial = createAddressList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '192.88.99.0/24',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/63',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  '3fff::/20',
  '5f00::/16',
  'fe80::/9',
  'ff00::/8',
]);

/** Whether an address is one of the public internet. `names`: a host name passes, to be looked up later. */
export const isPublicAddress = (host: string, names = false): boolean =>
  isIP(host) === 0 ? names : !isSpecial(host);
