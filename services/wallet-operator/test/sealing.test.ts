import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { checkpointHash } from '@platform/sealed-log/checkpoint';
import { sealingKeyOf } from '@platform/sealed-log/keys';
import { openDatabase } from '@platform/service-kit/db';
import { seededRandom } from '@platform/service-kit/testing';
import type { ISql } from 'postgres';
import { expect, test } from 'vitest';
import { sealPlayers } from '../src/sealing/sealing.ts';
import { listKeys, lockHead, trustKey } from '../src/sealing/queries.ts';
import { verifySeals } from '../src/sealing/verify.ts';
import { verifyEvidence } from '@platform/sealed-log/verify';
import {
  askEvidence,
  countUnsealed,
  newSealingJwk,
  playRounds,
  publicKeys,
  savedCheckpoints,
  seal,
  sealingJwk,
  sealingKey,
  startSealingService,
} from './evidence.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { createTestDatabase, startService } from './harness.ts';
import { startLoad } from './load.ts';
import { startProcess } from './process.ts';
import { expectSoundLedger } from './proof.ts';

const unsealedSeconds = async ({ url }: { url: string }): Promise<number> =>
  Number(/^wallet_unsealed_seconds (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);

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
    await lockHead(tx);
    await tx`set local session_replication_role = replica`;
    await tx`delete from sealed_ranges`;
    await tx`delete from sealed_runs`;
  });
  await playRounds(service);
  await expect.poll(() => service.lines.join('')).toContain('entries are not sealed any more');
  expect(await savedCheckpoints(service)).toEqual([]);
});

test('no process signs after the newest checkpoint was removed, also one that did not sign it', async () => {
  await using database = await createTestDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 1 });
  const { sql } = admin;
  {
    await using one = await startSealingService({}, database.url);
    await playRounds(one);
  }
  expect(await countUnsealed(sql)).toBe(0);
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`delete from sealed_runs where number = (select max(number) from sealed_ranges)`;
    await tx`delete from sealed_ranges where number = (select max(number) from sealed_ranges)`;
  });
  const kept = await sql`select number from sealed_ranges`;
  await using other = await startSealingService({ SEAL_EVERY_MS: '20' }, database.url);
  await playRounds(other);
  await expect.poll(() => other.lines.join('')).toContain('entries are not sealed any more');
  expect(await sql`select number from sealed_ranges`).toEqual(kept);
  expect(await unsealedSeconds(other)).toBeGreaterThan(0);
});

test('each checkpoint is a line of the log with its number and hash', async () => {
  await using service = await startSealingService({ SEAL_EVERY_MS: '20' });
  await playRounds(service);
  await expect.poll(() => countUnsealed(service.context.database.sql)).toBe(0);
  const logged = () =>
    service.lines
      .map((line) => JSON.parse(line) as { msg: string; number: number; hash: string })
      .filter(({ msg }) => msg === 'checkpoint signed')
      .map(({ number, hash }) => ({ number, hash }));
  const signed = (await savedCheckpoints(service)).map((checkpoint) => ({
    number: checkpoint.number,
    hash: checkpointHash(checkpoint),
  }));
  await expect.poll(logged).toEqual(signed);
});

test('the role of the service can neither trust a key nor move the number of the newest checkpoint back', async () => {
  await using database = await createTestDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 1 });
  const role = `service_${randomUUID().replaceAll('-', '')}`;
  await admin.sql.unsafe(
    `create role ${role}; grant usage on schema tested to ${role}; grant select, insert, update, delete on all tables in schema tested to ${role}`,
  );
  const as = (change: (tx: ISql) => Promise<unknown>) =>
    admin.sql.begin(async (tx) => {
      await tx.unsafe(`set local role ${role}`);
      await change(tx);
    });
  const forged = sealingKeyOf(newSealingJwk());
  await expect(as((tx) => trustKey(tx, forged))).rejects.toThrow('only migrations add rows to sealing_keys');
  await as((tx) => tx`update sealed_head set number = 1`);
  await expect(as((tx) => tx`update sealed_head set number = 0`)).rejects.toThrow('never changed');
  await expect(as((tx) => tx`delete from sealed_head`)).rejects.toThrow('never changed');
  await trustKey(admin.sql, forged);
  // Once migrations have added it, the service finds it there.
  await as((tx) => trustKey(tx, forged));
  await admin.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test('migrations add the public key of SEALING_KEY to those that are trusted', async () => {
  await using database = await createTestDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 1 });
  const env = { MIGRATION_DATABASE_URL: database.url, SEALING_KEY: JSON.stringify(sealingJwk) };
  const cwd = new URL('..', import.meta.url).pathname;
  await promisify(execFile)(process.execPath, ['src/migrate.ts'], { cwd, env });
  expect(await listKeys(admin.sql)).toEqual([{ x: sealingKey.x }]);
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

test('a player with a missing entry and many unsealed ones is not tried again before others', async () => {
  await using service = await startSealingService();
  const { sql } = service.context.database;
  const first = await addPlayer(sql, {}, '0');
  await addGame(sql);
  for (let count = 0; count < 3; count++) await callerOf(service, first).debit();
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`delete from entries where player_id = ${first} and seq = 1`;
  });
  const { playerId } = await playRounds(service);
  expect(await sealPlayers(sql, sealingKey, [first, playerId], 2)).toEqual({
    left: [playerId],
    damaged: [first],
  });
  for (let left = [playerId]; left.length > 0;) ({ left } = await sealPlayers(sql, sealingKey, left, 2));
  expect(await countUnsealed(sql)).toBe(3);
});

test('a process without the key shows how long nothing was sealed, once anything was', async () => {
  await using service = await startSealingService();
  await using keyless = await startService({ databaseUrl: service.databaseUrl });
  expect(await unsealedSeconds(keyless)).toBeNaN();
  await playRounds(service);
  await seal(service.context.database.sql);
  expect(await unsealedSeconds(service)).toBeGreaterThanOrEqual(0);
  await using started = await startService({ databaseUrl: service.databaseUrl });
  await expect.poll(() => unsealedSeconds(started)).toBeGreaterThan(0);
});

test('a process seals its last entries when it stops', async () => {
  await using database = await createTestDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 1 });
  {
    await using service = await startSealingService({}, database.url);
    await playRounds(service);
  }
  expect(await countUnsealed(admin.sql)).toBe(0);
});

test('entries of more players than fit into a range are sealed without a pause', async () => {
  await using database = await createTestDatabase();
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
  await using database = await createTestDatabase();
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
