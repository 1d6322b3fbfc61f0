import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ensurePorts } from './ports.ts';
import { freePort } from './testing/free-ports.ts';

test('the error for a taken port names the program and the variable that changes it', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const wanted = [
    { port, by: 'the gateway', variable: 'GATEWAY_PORT' } as const,
    { port: await freePort(), by: 'Redis', variable: 'PORT_BASE' } as const,
  ];
  await expect(ensurePorts(wanted)).rejects.toThrow(
    `port ${port} for the gateway is taken or forbidden; change it with GATEWAY_PORT=…`,
  );
  await new Promise((resolve) => server.close(resolve));
  await expect(ensurePorts(wanted)).resolves.toBeUndefined();
});

test('the error for two programs on one port names both', async () => {
  const port = await freePort();
  const wanted = [
    { port, by: 'task-manager', variable: 'PORT_BASE' } as const,
    { port, by: 'the gateway', variable: 'GATEWAY_PORT' } as const,
  ];
  await expect(ensurePorts(wanted)).rejects.toThrow(`port ${port} is used by task-manager and the gateway`);
});
