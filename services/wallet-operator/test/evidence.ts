import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { expect } from 'vitest';
import { publicKeysOf, sealingKeyOf } from '@platform/sealed-log/keys';
import type { Checkpoint } from '@platform/sealed-log/checkpoint';
import { sealPlayers } from '../src/sealing/sealing.ts';
import { listKeys, playersAfter } from '../src/sealing/queries.ts';
import { readCheckpoints } from '@platform/sealed-log/verify';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';

export const newSealingJwk = (): JsonWebKey =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });

export const sealingJwk = newSealingJwk();
export const sealingKey = sealingKeyOf(sealingJwk);
export const publicKeys = publicKeysOf({ kty: 'OKP', crv: 'Ed25519', x: sealingKey.x });

/** A service with a key. Unless SEAL_EVERY_MS is given it seals when a test says so: see `seal`. */
export const startSealingService = async (variables: Record<string, string> = {}, databaseUrl?: string) => {
  const service = await startService({
    variables: { SEALING_KEY: JSON.stringify(sealingJwk), SEAL_EVERY_MS: '600000', ...variables },
    ...(databaseUrl !== undefined && { databaseUrl }),
  });
  // The first run has looked for players before this, so it seals nothing that a test adds.
  while ((await listKeys(service.context.database.sql)).length === 0) await sleep(10);
  return service;
};

/** Seals all entries there are, in ranges of at most `most`. */
export const seal = async (sql: Sql, key = sealingKey, limit?: number): Promise<void> => {
  const players = await playersAfter(sql, '', 1000);
  while ((await sealPlayers(sql, key, players, limit)).left.length > 0);
};

/** A player with a round of a debit and two credits, and entries beside it. */
export const playRounds = async (service: Running) => {
  const { sql } = service.context.database;
  await addGame(sql);
  const caller = callerOf(service, await addPlayer(sql));
  const roundId = 'round/é\u2028\u202e"';
  await caller.debit({ roundId, amount: '10.00' });
  await caller.debit({ amount: '1.00' });
  await caller.credit({ roundId, amount: '0', roundClosed: false });
  expect(await caller.credit({ roundId, amount: '25.50' })).toMatchObject({ status: 'OK' });
  return { playerId: caller.playerId, roundId };
};

/** The evidence of a round as it is sent. */
export const askEvidence = async (service: Running, playerId: string, roundId: string) => {
  const path = `/v1/players/${encodeURIComponent(playerId)}/rounds/${encodeURIComponent(roundId)}/evidence`;
  const { status, text } = await (await service.agent('wallet:read')).get(path);
  return { status, text };
};

/** The checkpoints as a third party saves them. */
export const savedCheckpoints = async (service: Running, query = 'limit=200'): Promise<Checkpoint[]> => {
  const { text } = await (await service.agent('wallet:audit')).get(`/v1/audit/checkpoints?${query}`);
  return readCheckpoints(text);
};

/** Entries without a checkpoint. */
export const countUnsealed = async (sql: Sql): Promise<number> => {
  const [row] = await sql<[{ unsealed: number }]>`
    select ((select count(*) from entries) - (select coalesce(max(total), 0) from sealed_ranges))::int as unsealed`;
  return row.unsealed;
};
