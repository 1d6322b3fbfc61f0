import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const program = new URL('../src/main.ts', import.meta.url).pathname;

test('nothing of what a hostile wallet answers reaches the terminal but printable text', async () => {
  const escape = '\u001b[2J\u0007\u009b31m\u202egnp.\u2028\u200b';
  const server = createServer((_request, response) => response.end(JSON.stringify(escape) + escape));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = [
    '--url',
    `http://127.0.0.1:${port}`,
    '--player',
    'p',
    '--secret',
    's',
    '--currency',
    'EUR',
  ];
  const child = spawn(process.execPath, [program, 'certify', ...options]);
  const [printed, complained, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  server.close();
  expect(status).toBe(1);
  expect(printed + complained).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  expect(printed).toContain('\\u{1b}');
});
