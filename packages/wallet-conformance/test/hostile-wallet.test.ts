import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const program = new URL('../src/main.ts', import.meta.url).pathname;

/** Certifies a wallet that answers every request with `answer`. */
const certify = async (answer: RequestListener, ...options: string[]) => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const wallet = ['--url', `http://127.0.0.1:${port}`, '--player', 'p', '--secret', 's', '--currency', 'EUR'];
  const child = spawn(process.execPath, [program, 'certify', ...wallet, ...options]);
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  server.closeAllConnections();
  server.close();
  return { stdout, stderr, status };
};

test('only printable text of the answers of a hostile wallet reaches the terminal', async () => {
  const escape = '\u001b[2J\u0007\u009b31m\u202egnp.\u2028\u200b';
  const { stdout, stderr, status } = await certify((_request, response) =>
    response.end(JSON.stringify(escape) + escape),
  );
  expect(status).toBe(1);
  expect(stdout + stderr).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  expect(stdout).toContain('\\u{1b}');
});

test('a wallet whose answers never end fails after the time limit', async () => {
  const drip: RequestListener = (_request, response) => {
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  };
  const { stdout, status } = await certify(drip, '--within', '1');
  expect(status).toBe(1);
  expect(stdout).toMatch(/the time limit of --within is over[^]*\b0 passed/);
});

test('an endless answer is not buffered', async () => {
  const flood: RequestListener = (_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
    };
    response.on('drain', write);
    write();
  };
  expect((await certify(flood, '--within', '2')).stdout).toContain('the answer has more than 1048576 bytes');
});
