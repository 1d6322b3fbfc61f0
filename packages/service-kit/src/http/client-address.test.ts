import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import proxyAddr from 'proxy-addr';
import { expect, test } from 'vitest';
import { createClientAddress } from './client-address.ts';

test('the client of a request is the one that proxy-addr finds, however many hops there are', () => {
  const trusted = ['127.0.0.1', '10.0.0.0/8'];
  const clientAddress = createClientAddress(trusted);
  const address = fc.oneof(fc.constantFrom('127.0.0.1', '10.1.2.3', 'unknown'), fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(address, fc.array(address), fc.constantFrom(',', ', '), (remoteAddress, hops, comma) => {
      const socket = { remoteAddress };
      const request = { headers: { 'x-forwarded-for': hops.join(comma) }, socket, connection: socket };
      const req = request as unknown as IncomingMessage;
      expect(clientAddress(req)).toBe(proxyAddr(req, trusted));
    }),
  );
});
