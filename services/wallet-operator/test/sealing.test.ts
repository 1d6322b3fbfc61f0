import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '@platform/service-kit/db';
import { seededRandom } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { sealPlayers } from '../src/sealing/sealing.ts';
import { lockSealing } from '../src/sealing/queries.ts';
import { verifySeals } from '../src/sealing/use-cases.ts';
import { verifyEvidence } from '@platform/sealed-log/verify';
import {
  askEvidence,
  countUnsealed,
  playRounds,
  publicKeys,
  savedCheckpoints,
  sealingJwk,
  sealingKey,
  startSealingService,
} from './evidence.ts';
import { addGame, addPlayer } from './factories.ts';
import { ownDatabase, startService } from './harness.ts';
import { startLoad } from './load.ts';
import { startProcess } from './process.ts';
import { expectSoundLedger } from './proof.ts';

test('entries are sealed in the background, and a round that is not sealed yet is a conflict', async () => {
  await using service = await startSealingService({ SEAL_EVERY_MS: '50' });
  const { playerId, roundId } = await playRounds(service);
  await expect.poll(async () => (await askEvidence(service, playerId, roundId)).status).toBe(200);
  await using lazy = await startSealingService();
  const late = await playRounds(lazy);
  const { status, text } = await askEvidence(lazy, late.playerId, late.roundId);
  expect([status, JSON.parse(text)]).toMatchObject([409, { code: 'not_sealed' }]);
  expect((await askEvidence(lazy, late.playerId, 'none')).status).toBe(404);
});

test('two processes seal every entry once, and a new process seals what an ended one left', async () => {
  await using one = await startSealingService({ SEAL_EVERY_MS: '10' });
  const { sql } = one.context.database;
  {
    await using silent = await startService({ databaseUrl: one.databaseUrl });
    await playRounds(silent);
  }
  await using two = await startSealingService({ SEAL_EVERY_MS: '10' }, one.databaseUrl);
  for (let round = 0; round < 5; round++) await Promise.all([playRounds(one), playRounds(two)]);
  await expect.poll(() => countUnsealed(sql)).toBe(0);
  expect(await verifySeals(sql, publicKeys)).toBe(55);
});

test('a process signs nothing more when the chain that it signed was rewritten', async () => {
  await using service = await startSealingService({ SEAL_EVERY_MS: '20' });
  const { sql } = service.context.database;
  await playRounds(service);
  await expect.poll(() => countUnsealed(sql)).toBe(0);
  await sql.begin(async (tx) => {
    // Not while a run is between its look at the chain and its signature.
    await lockSealing(tx);
    await tx`set local session_replication_role = replica`;
    await tx`delete from sealed_ranges`;
    await tx`delete from sealed_runs`;
  });
  await playRounds(service);
  await expect.poll(() => service.lines.join('')).toContain('entries are not sealed any more');
  expect(await savedCheckpoints(service)).toEqual([]);
});

test('a missing entry of one player does not keep those of others from being sealed', async () => {
  await using service = await startSealingService();
  const { sql } = service.context.database;
  const damaged = await playRounds(service);
  const sound = await playRounds(service);
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`delete from entries where player_id = ${damaged.playerId} and seq = 3`;
  });
  const players = [damaged.playerId, sound.playerId];
  expect(await sealPlayers(sql, sealingKey, players)).toMatchObject({
    left: [],
    damaged: [damaged.playerId],
  });
  verifyEvidence((await askEvidence(service, sound.playerId, sound.roundId)).text, publicKeys);
  expect((await askEvidence(service, damaged.playerId, damaged.roundId)).status).toBe(409);
});

test('a process seals its last entries when it stops', async () => {
  await using database = await ownDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 1 });
  {
    await using service = await startSealingService({}, database.url);
    await playRounds(service);
  }
  expect(await countUnsealed(admin.sql)).toBe(0);
});

test('entries of more players than fit into a range are sealed without a pause', async () => {
  await using database = await ownDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 1 });
  const { sql } = admin;
  await sql`insert into players (player_id, currency, balance, seq, created_at)
    select 'many-' || n, 'EUR', 1, 1, now() from generate_series(1, 2500) n`;
  await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
    select 'many-' || n, 1, 'deposit', 'many-' || n, 1, 1, now(), 'operator' from generate_series(1, 2500) n`;
  await using _ = await startSealingService({}, database.url);
  await expect.poll(() => countUnsealed(sql)).toBe(0);
  expect(await verifySeals(sql, publicKeys)).toBe(2500);
});

test('after kill -9 at any moment each entry is sealed once, in one chain', async () => {
  const random = seededRandom();
  await using database = await ownDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 2 });
  const { sql } = admin;
  await addGame(sql);
  const players = await Promise.all(Array.from({ length: 40 }, () => addPlayer(sql)));
  await using process = await startProcess(database.url, '', {
    SEALING_KEY: JSON.stringify(sealingJwk),
    SEAL_EVERY_MS: '10',
  });
  for (let round = 0; round < 5; round++) {
    const load = startLoad(process.url, players, 4);
    await sleep(200 + random() * 600);
    await process.kill();
    await load.stop();
    await process.start();
  }
  await expect.poll(() => countUnsealed(sql)).toBe(0);
  await verifySeals(sql, publicKeys);
  await expectSoundLedger({ sql });
});

test('without a key nothing is sealed, and evidence is unavailable', async () => {
  await using service = await startService();
  const { playerId, roundId } = await playRounds(service);
  const { status, text } = await askEvidence(service, playerId, roundId);
  expect([status, JSON.parse(text)]).toMatchObject([503, { code: 'no_sealing_key' }]);
  expect(await savedCheckpoints(service)).toEqual([]);
});
