import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sendRequest } from './outbound.ts';

const options = { keyType: 'rsa', keySize: 2048, algorithm: 'sha256' } as const;
const certificateFor = (name: string) => generate([{ name: 'commonName', value: name }], options);
const trusted = await certificateFor('localhost');
setDefaultCACertificates([...getCACertificates(), trusted.cert]);

/** Starts an https server, and returns how to request it and the number of its connections. */
const startServer = async (serverOptions: ServerOptions) => {
  let connections = 0;
  const server = createServer({ key: trusted.private, cert: trusted.cert, ...serverOptions }, (_, res) =>
    res.end('x'.repeat(50_000)),
  );
  server.on('connection', () => connections++);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
  };
};

/** Sends a request and returns the length of the answer and whether it was reported as costly. */
const request = async (url: string) => {
  const onCostly = vi.fn<() => void>();
  const common = { method: 'GET', headers: {}, addresses: 'any', subject: 'ann' } as const;
  const send = async () => {
    const signal = AbortSignal.timeout(20_000);
    return (await (await sendRequest(new URL(url), { ...common, signal, onCostly })).read()).length;
  };
  const result = await send().catch((error: Error & { code?: string }) => error.code ?? error.name);
  return { result, reports: onCostly.mock.calls.length };
};

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a %s connection to a server with a trusted certificate is used again',
  async (version) => {
    const { url, connections } = await startServer({ minVersion: version, maxVersion: version });
    for (let n = 0; n < 3; n++) expect(await request(url)).toEqual({ result: 50_000, reports: 0 });
    expect(connections()).toBe(1);
  },
);

test.each([
  ['DHE', { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto' }],
  ['a group of 8,192 bits', { minVersion: 'TLSv1.3', ecdhCurve: 'ffdhe8192' }],
  ['static RSA', { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }],
] as const)('a server cannot choose %s as the key exchange', async (_, serverOptions) => {
  const { url } = await startServer(serverOptions);
  expect((await request(url)).result).toMatch(/^ERR_SSL_|^ECONNRESET$|^EPROTO$/);
});

test('a handshake that fails because of the certificate is reported as costly', async () => {
  const other = await certificateFor('localhost');
  const { url } = await startServer({ key: other.private, cert: other.cert });
  expect(await request(url)).toEqual({ result: 'DEPTH_ZERO_SELF_SIGNED_CERT', reports: 1 });
});

test('a server may send at most 16 KiB before the end of the handshake', async () => {
  const { url } = await startServer({ cert: Array.from({ length: 30 }, () => trusted.cert).join('\n') });
  expect(await request(url)).toEqual({ result: 'AnswerTooLarge', reports: 1 });
});

test('a server that refuses connections is not reported as costly', async () => {
  const server = createTcpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  expect(await request(`https://localhost:${port}`)).toEqual({ result: 'ECONNREFUSED', reports: 0 });
});
