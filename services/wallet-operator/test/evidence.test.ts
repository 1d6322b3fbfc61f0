import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ISql } from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { checkpointHash, signCheckpoint } from '@platform/sealed-log/checkpoint';
import { publicKeysOf, sealingKeyOf } from '@platform/sealed-log/keys';
import { verifySeals } from '../src/sealing/verify.ts';
import { verifyCheckpoints, verifyEvidence } from '@platform/sealed-log/verify';
import {
  askEvidence,
  newSealingJwk,
  playRounds,
  publicKeys,
  savedCheckpoints,
  seal,
  sealingKey,
  startSealingService,
} from './evidence.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';

const run = promisify(execFile);

/** A round that is sealed in two ranges of a ledger with other players. */
const sealedRound = async () => {
  const service = await startSealingService();
  const { sql } = service.context.database;
  await playRounds(service);
  const round = await playRounds(service);
  await seal(sql, sealingKey, 3);
  return { service, sql, ...round, text: (await askEvidence(service, round.playerId, round.roundId)).text };
};

test('the evidence of a round names its entries and is verified with the public key alone', async () => {
  const { service, playerId, roundId, text } = await sealedRound();
  await using _ = service;
  const { entries, checkpoints, currency, closedAt } = verifyEvidence(text, publicKeys);
  expect(entries.map(({ operation, amount, seq }) => [operation, amount, seq])).toEqual([
    ['debit', '-1000', '2'],
    ['credit', '0', '4'],
    ['credit', '2550', '5'],
  ]);
  expect(entries[0]).toMatchObject({ playerId, roundId, balanceAfter: '99000', idSpace: 'game' });
  expect(currency).toBe('EUR');
  expect(closedAt).toBe(entries[2]?.at);
  expect(checkpoints.length).toBeGreaterThan(1);
  const saved = await savedCheckpoints(service);
  verifyCheckpoints([...checkpoints, ...saved], publicKeys);
  const pages = await Promise.all(
    saved.map((_saved, at) => savedCheckpoints(service, `sort=-number&limit=1&page=${at + 1}`)),
  );
  expect(pages.flat()).toEqual(saved.toReversed());
});

test('a round has evidence while its entries are in at most 300 checkpoints', async () => {
  await using service = await startSealingService();
  const { sql } = service.context.database;
  await addGame(sql);
  const { playerId, debit } = callerOf(service, await addPlayer(sql));
  const roundId = 'long';
  const play = async (bets: number) => {
    for (let bet = 0; bet < bets; bet++) await debit({ roundId, amount: '0.01' });
    await seal(sql, sealingKey, 1);
    const { status, text } = await askEvidence(service, playerId, roundId);
    return [status, (JSON.parse(text) as { code?: string }).code];
  };
  expect(await play(300)).toEqual([200, undefined]);
  expect(await play(1)).toEqual([409, 'round_too_large']);
});

test('evidence does not hold with the key of somebody else', async () => {
  const { service, text } = await sealedRound();
  await using _ = service;
  const { x } = sealingKeyOf(newSealingJwk());
  expect(() => verifyEvidence(text, publicKeysOf({ kty: 'OKP', crv: 'Ed25519', x }))).toThrow('unknown key');
});

test('a rewritten database is detected against a checkpoint that was kept before', async () => {
  const { service, sql, playerId } = await sealedRound();
  await using _ = service;
  const kept = await savedCheckpoints(service);
  expect(await verifySeals(sql, publicKeys, kept)).toBe(10);
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update entries set amount = amount + 100, balance_after = balance_after + 100
      where player_id = ${playerId} and seq = 5`;
    await tx`update players set balance = balance + 100 where player_id = ${playerId}`;
  });
  await expect(verifySeals(sql, publicKeys)).rejects.toThrow('were changed after they were sealed');
  // Who has the key can seal everything again; only those who kept a checkpoint see it.
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`delete from sealed_ranges`;
    await tx`delete from sealed_runs`;
    await tx`update sealed_head set number = 0, hash = repeat('0', 64)`;
  });
  await seal(sql, sealingKey, 3);
  expect(await verifySeals(sql, publicKeys)).toBe(10);
  await expect(verifySeals(sql, publicKeys, kept)).rejects.toThrow('was rewritten');
  const now = await savedCheckpoints(service);
  expect(() => verifyCheckpoints([...kept, ...now], publicKeys)).toThrow('was rewritten');
  await expect(
    verifySeals(sql, publicKeys, [...now, ...now.slice(0, 1).map((one) => ({ ...one, number: 99 }))]),
  ).rejects.toThrow('not in the database');
});

test('a checkpoint that does not follow from the one before it is detected', async () => {
  const { service } = await sealedRound();
  await using _ = service;
  const [first, second] = await savedCheckpoints(service);
  if (first === undefined || second === undefined) throw new Error('two checkpoints are needed');
  expect(second.previous).toBe(checkpointHash(first));
  const torn = signCheckpoint({ ...second, previous: '0'.repeat(64) }, sealingKey);
  expect(() => verifyCheckpoints([first, torn], publicKeys)).toThrow('does not follow');
});

test('checkpoints with another signature are detected in the database', async () => {
  const { service, sql } = await sealedRound();
  await using _ = service;
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update sealed_ranges set signature = (select signature from sealed_ranges where number = 1) where number = 2`;
  });
  await expect(verifySeals(sql, publicKeys)).rejects.toThrow('checkpoint 2: signature is wrong');
});

test('a replaced key keeps its checkpoints valid: both public keys are served', async () => {
  const { service, sql } = await sealedRound();
  await using _ = service;
  const next = newSealingJwk();
  await using later = await startSealingService({ SEALING_KEY: JSON.stringify(next) }, service.databaseUrl);
  const round = await playRounds(later);
  await seal(sql, sealingKeyOf(next));
  const served = (await (await later.agent()).get('/v1/audit/keys')).body as {
    keys: { kid: string; x: string }[];
  };
  expect(served.keys.map(({ x }) => x)).toEqual([sealingKeyOf(next).x, sealingKey.x]);
  const keys = publicKeysOf(served);
  verifyEvidence((await askEvidence(later, round.playerId, round.roundId)).text, keys);
  verifyCheckpoints(await savedCheckpoints(later), keys);
});

test('verify-evidence proves a round from files alone, and prints its id without characters that break a line', async () => {
  const { service, text } = await sealedRound();
  await using _ = service;
  const folder = await mkdtemp(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [evidence, keys, kept] = ['evidence', 'keys', 'kept'].map((name) => join(folder, `${name}.json`));
  if (evidence === undefined || keys === undefined || kept === undefined) throw new Error('files are needed');
  await writeFile(keys, (await (await service.agent()).get('/v1/audit/keys')).text);
  await writeFile(kept, JSON.stringify({ checkpoints: await savedCheckpoints(service) }));
  const program = new URL('../../../packages/sealed-log/src/main.ts', import.meta.url).pathname;
  const verify = async (content: string) => {
    await writeFile(evidence, content);
    return run(process.execPath, [program, evidence, '--key', keys, '--checkpoints', kept]);
  };
  expect((await verify(`${text}\n`)).stdout).toMatch(/^proven: round [ -~é]+\n$/);
  await expect(verify(text.replace('"EUR"', '"USD"'))).rejects.toThrow('signature of the file is wrong');
  await writeFile(kept, JSON.stringify({ checkpoints: (await savedCheckpoints(service)).slice(-1) }));
  await expect(verify(text)).rejects.toThrow('is not among the saved ones');
});

/** What somebody with the owner's rights changes; the seals are those of before. */
const damages: [
  string,
  string,
  (tx: ISql, round: { playerId: string; number: number }) => Promise<unknown>,
][] = [
  [
    'an entry of the round',
    'its entries, or the currency of a player, were changed',
    (tx, { playerId }) =>
      tx`update entries set amount = amount + 1 where player_id = ${playerId} and seq = 5`,
  ],
  [
    'the currency of the player',
    'its entries, or the currency of a player, were changed',
    (tx, { playerId }) => tx`update players set currency = 'JPY' where player_id = ${playerId}`,
  ],
  [
    'a round that is open again',
    'closedAt is not the time of the entry that closed the round',
    (tx, { playerId }) => tx`update rounds set closed_at = null where player_id = ${playerId}`,
  ],
  [
    'a removed checkpoint',
    'is missing',
    (tx, { number }) => tx`delete from sealed_ranges where number = ${number}`,
  ],
  [
    'a changed checkpoint',
    'signature is wrong',
    (tx, { number }) =>
      tx`update sealed_ranges set sealed_at = sealed_at + interval '1 s' where number = ${number}`,
  ],
];

test.each(damages)('evidence is refused with the name of the damage: %s', async (_name, damage, change) => {
  const { service, sql, ...round } = await sealedRound();
  await using _ = service;
  const [checkpoint] = verifyEvidence(round.text, publicKeys).checkpoints;
  const number = checkpoint?.number ?? 0;
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await change(tx, { ...round, number });
  });
  const { status, text } = await askEvidence(service, round.playerId, round.roundId);
  expect([status, JSON.parse(text)]).toMatchObject([409, { code: 'evidence_damaged' }]);
  expect(text).toContain(damage);
});
