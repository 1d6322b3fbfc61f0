import { expect, test } from 'vitest';
import { runConformance } from './conformance-program.ts';
import { addGame, addPlayer } from './factories.ts';
import { secret, startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';
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
  const results = await certify(target(service.url), undefined, 0);
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
