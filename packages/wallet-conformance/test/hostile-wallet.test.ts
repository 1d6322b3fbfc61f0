import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const program = new URL('../src/main.ts', import.meta.url).pathname;

/** Certifies a wallet that answers every request with `answer`. */
const certify = async (answer: RequestListener, ...more: string[]) => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const wallet = ['--url', `http://127.0.0.1:${port}`, '--player', 'p', '--secret', 's', '--currency', 'EUR'];
  const child = spawn(process.execPath, [program, 'certify', ...wallet, ...more]);
  const [printed, complained, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  server.closeAllConnections();
  server.close();
  return { printed, complained, status };
};

test('nothing of what a hostile wallet answers reaches the terminal but printable text', async () => {
  const escape = '\u001b[2J\u0007\u009b31m\u202egnp.\u2028\u200b';
  const { printed, complained, status } = await certify((_request, response) =>
    response.end(JSON.stringify(escape) + escape),
  );
  expect(status).toBe(1);
  expect(printed + complained).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  expect(printed).toContain('\\u{1b}');
});

test('a wallet whose answers never end fails in time', async () => {
  const drip: RequestListener = (_request, response) => {
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  };
  const { printed, status } = await certify(drip, '--within', '1');
  expect(status).toBe(1);
  expect(printed).toMatch(/the time of --within is over[^]*\b0 passed/);
});

test('an answer without end is not kept', async () => {
  const flood: RequestListener = (_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
    };
    response.on('drain', write);
    write();
  };
  expect((await certify(flood, '--within', '2')).printed).toContain('the answer has more than 1048576 bytes');
});
