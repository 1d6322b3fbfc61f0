import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Fault } from './faults.ts';
import { secret, startWallet } from './wallet-server.ts';

const program = new URL('../src/main.ts', import.meta.url).pathname;

const run = (...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** The command-line options for a wallet and its player. */
const optionsOf = (url: string): string[] => [
  '--url',
  url,
  '--secret',
  secret,
  '--player',
  'ada',
  '--currency',
  'EUR',
];

/** Starts a wallet. Returns the command-line options for it. */
const startWalletOptions = async (fault?: Fault): Promise<string[]> => {
  const wallet = await startWallet({ seed: 1, fault });
  onTestFinished(() => wallet[Symbol.dispose]());
  return optionsOf(wallet.target.url);
};

test('`certify` prints a report, writes JUnit XML, and has exit code 1 when a case failed', async () => {
  const file = join(await makeFolder(), 'junit.xml');
  const good = await run('certify', ...(await startWalletOptions()), '--junit', file);
  expect(good.code, good.stdout).toBe(0);
  expect(good.stdout).toMatch(/Happy path\n[^]*✓ a debit takes the bet[^]*\d+ passed, 0 failed/);
  expect(await readFile(file, 'utf8')).toMatch(/<testsuite name="Races" tests="\d+" failures="0">/);

  const bad = await run('certify', ...(await startWalletOptions('tombstone ignored')), '--junit', file);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain('✗ a debit that arrives after its rollback is refused');
  expect(await readFile(file, 'utf8')).toContain('<failure message="expected a refusal');

  const wrong = await run('certify', '--url', 'nonsense');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('--player, --url and --secret (or HMAC_SECRET) are required');
});

test('when the currency of the player cannot be found, the message contains the full path', async () => {
  const [, url = ''] = await startWalletOptions();
  const failed = await run('certify', '--url', `${url}/callback`, '--secret', secret, '--player', 'nobody');
  expect(failed.code).toBe(2);
  expect(failed.stderr).toContain('POST /callback/callback/authenticate answered HTTP');
});

test('`record` detects a wrong wallet and draws each violation; `check` gives the same result for the file', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'calls.jsonl');
  const wallet = await startWalletOptions('refuses every win');
  // With this seed the first history contains a win.
  const recorded = await run('record', file, ...wallet, '--seconds', '1', '--seed', '3');
  expect(recorded.code).toBe(1);
  expect(recorded.stdout).toContain('no order of the calls explains these answers together');
  expect(await readdir(folder)).toContain('calls.jsonl.1.svg');
  const checked = await run('check', file);
  expect(checked.code).toBe(1);
  expect(checked.stdout.split('\n').at(-2)).toBe(recorded.stdout.split('\n').at(-2));
});

test('`record --resume` continues a recording, even into the same file', async () => {
  const file = join(await makeFolder(), 'calls.jsonl');
  const record = ['record', file, ...(await startWalletOptions()), '--seconds', '1', '--no-limits'];
  expect((await run(...record)).code).toBe(0);
  const { length } = await readFile(file, 'utf8');
  const resumed = await run(...record, '--resume', file);
  expect(resumed.code, resumed.stdout).toBe(0);
  expect((await readFile(file, 'utf8')).length).toBeGreaterThan(length);
});

test('a recording that cannot be judged, because calls are never answered, has exit code 2', async () => {
  const silent: RequestListener = (req, res) => {
    if (req.url === '/callback/balance') res.end('{"requestId":"","status":"OK","balance":"1.00"}');
    else res.destroy();
  };
  const server = createServer(silent).listen(0, '127.0.0.1');
  onTestFinished(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const file = join(await makeFolder(), 'calls.jsonl');
  const options = [...optionsOf(`http://127.0.0.1:${port}`), '--patience', '1', '--seconds', '1'];
  const { code, stdout } = await run('record', file, ...options);
  expect(code).toBe(2);
  expect(stdout).toContain('is unknown');
  expect(stdout).toContain('0 violations, 1 not judged');
});
