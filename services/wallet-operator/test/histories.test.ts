import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addGame, addPlayer } from './factories.ts';
import { secret, startService, type Running } from './harness.ts';
import { expectSoundLedger } from './proof.ts';
import { readCalls } from '@platform/wallet-conformance/history/report';
import { replay, type LedgerEntry } from './replay.ts';
import { recordAndJudge } from '@platform/wallet-conformance/history/record';

const players = ['ada', 'bob', 'cem', 'dora'];

const target = (url: string) => ({
  url,
  secret,
  currency: 'EUR',
  game: 'dice-alpha',
  signatureString: 'timestamp+path+body' as const,
});

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'history-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

const startWallet = async (): Promise<Running> => {
  const service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  for (const player of players) await addPlayer(sql, {}, player);
  return service;
};

const ledgerOf = ({ context }: Running, player: string) => context.database.sql<LedgerEntry[]>`
  select seq::int, transaction_id as "transactionId", balance_after::float8 as "balanceAfter"
  from entries where player_id = ${player} order by seq`;

test('every history of our service has a serial order, which is that of the ledger', async () => {
  await using service = await startWallet();
  const file = join(await makeFolder(), 'calls.jsonl');
  const verdict = await recordAndJudge({
    target: target(service.url),
    players,
    seconds: 2,
    seed: 1,
    declared: { noLimits: true },
    file,
  });
  expect(verdict).toMatchObject({ violations: [], notJudged: [] });
  expect(verdict.histories).toBeGreaterThanOrEqual(players.length);
  const calls = await readCalls(file);
  for (const player of players) {
    const own = calls.filter((call) => call.player === player);
    expect(replay(own, await ledgerOf(service, player))).toEqual([]);
  }
  await expectSoundLedger(service);
});

test('histories stay sound while the connections of the ledger are cut again and again', async () => {
  await using service = await startWallet();
  const file = join(await makeFolder(), 'calls.jsonl');
  let cuts = 0;
  const cutting = setInterval(() => {
    void service.context.database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'wallet-operator:ledger%'`.then(
      ({ length }) => (cuts += length),
    );
  }, 100);
  onTestFinished(() => clearInterval(cutting));
  const verdict = await recordAndJudge({
    target: target(service.url),
    players,
    seconds: 3,
    seed: 2,
    declared: { noLimits: true },
    file,
  });
  clearInterval(cutting);
  expect(cuts).toBeGreaterThan(0);
  expect(verdict.violations).toEqual([]);
  await expectSoundLedger(service);
});
