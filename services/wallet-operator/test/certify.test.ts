import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runConformance } from './conformance-program.ts';
import { addGame, addPlayer } from './factories.ts';
import { secret, startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';
import { startSmallBackend } from './small-backend.ts';
import { certify, groups } from '@platform/wallet-conformance/certify/run';

const run = (...args: string[]) => runConformance('certify', ...args);

const target = (url: string) => ({
  url,
  secret,
  player: 'ada',
  currency: 'EUR',
  game: 'dice-alpha',
  signatureString: 'timestamp+path+body' as const,
});

const failedIn = async (url: string): Promise<string[]> =>
  (await certify(target(url))).flatMap(({ title, failure }) => (failure === undefined ? [] : [title]));

test('the kit has seven groups and at least 60 cases, each with a name of its own', () => {
  const titles = groups.flatMap(({ cases }) => cases.map(({ title }) => title));
  expect(groups).toHaveLength(7);
  expect(titles.length).toBeGreaterThanOrEqual(60);
  expect(new Set(titles).size).toBe(titles.length);
});

test('our service keeps the contract', async () => {
  await using service = await startService();
  await addGame(service.context.database.sql);
  await addPlayer(service.context.database.sql, {}, 'ada');
  const results = await certify(target(service.url));
  expect(results.filter(({ failure }) => failure !== undefined)).toEqual([]);
  await expectSoundLedger(service);
});

test.each(['global', 'player'] as const)(
  'our service keeps the contract for two players, with ids that are unique by %s',
  async (scope) => {
    await using service = await startService({ variables: { TRANSACTION_ID_SCOPE: scope } });
    const { sql } = service.context.database;
    await addGame(sql);
    for (const player of ['ada', 'bob']) await addPlayer(sql, {}, player);
    const two = { ...target(service.url), otherPlayer: 'bob' };
    const failed = async (transactionIds: 'global' | 'player') =>
      (await certify({ ...two, transactionIds })).flatMap(({ title, failure }) => (failure ? [title] : []));
    expect(await failed(scope)).toEqual([]);
    // A kit that expects the other scope reports it.
    expect(await failed(scope === 'global' ? 'player' : 'global')).toContainEqual(
      expect.stringContaining('a transactionId of another player'),
    );
    await expectSoundLedger(service);
  },
);

test.each(['USD', 'CNY', 'THB'])("the program reads the player's currency: %s", async (currency) => {
  await using service = await startService();
  await addGame(service.context.database.sql);
  await addPlayer(service.context.database.sql, { currency }, 'ada');
  const { code, stdout } = await run('--url', service.url, '--secret', secret, '--player', 'ada');
  expect(code, stdout).toBe(0);
  const unknown = await run('--url', service.url, '--secret', secret, '--player', 'nobody');
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('ERROR_UNKNOWN') });
});

test('so does a right backend of another kind', async () => {
  expect(await failedIn(await startSmallBackend('none'))).toEqual([]);
});

test.each([
  ['paysARollbackTwice', 'a repeated rollback of a debit gives it back once'],
  ['takesALateDebit', 'a debit that comes after its rollback is refused'],
  [
    'appliesADuplicateTwice',
    'a repeated debit is applied once and answered with the balance of the first time',
  ],
] as const)('a backend that %s is caught by name', async (flaw, title) => {
  expect(await failedIn(await startSmallBackend(flaw))).toContain(title);
});

test('the program prints a report, writes JUnit, and its exit code tells whether a case failed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'certify-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'junit.xml');
  const args = ['--secret', secret, '--player', 'ada', '--junit', file];

  const good = await run('--url', await startSmallBackend('none'), ...args);
  expect(good.code, good.stdout).toBe(0);
  expect(good.stdout).toMatch(/Happy path\n[^]*✓ a debit takes the bet[^]*\d+ passed, 0 failed/);
  expect(await readFile(file, 'utf8')).toMatch(/<testsuite name="Races" tests="\d+" failures="0">/);

  const bad = await run('--url', await startSmallBackend('takesALateDebit'), ...args);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain('✗ a debit that comes after its rollback is refused');
  expect(await readFile(file, 'utf8')).toContain('<failure message="expected a refusal');

  const wrong = await run('--url', 'nonsense');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('--url, --player and --secret (or HMAC_SECRET) are needed');
});
