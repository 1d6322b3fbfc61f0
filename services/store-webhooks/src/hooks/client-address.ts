import type { IncomingMessage } from 'node:http';
import type { AddressList } from '@platform/auth/addresses';

/** Who sent a request: X-Forwarded-For is believed as far as it was written by trusted addresses. */
export const clientAddress = ({ headers, socket }: IncomingMessage, isTrusted: AddressList): string => {
  const forwarded = headers['x-forwarded-for'];
  const hops = typeof forwarded === 'string' ? forwarded.split(',').map((hop) => hop.trim()) : [];
  let address = socket.remoteAddress ?? '';
  while (hops.length > 0 && isTrusted(address)) address = hops.pop() ?? '';
  return address;
};
