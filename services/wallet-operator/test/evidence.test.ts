import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { checkpointHash, signCheckpoint } from '@platform/sealed-log/checkpoint';
import { publicKeysOf, sealingKeyOf } from '@platform/sealed-log/keys';
import type { EvidenceFile } from '@platform/sealed-log/evidence';
import { verifySeals } from '../src/sealing/use-cases.ts';
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

/** The evidence with a change, signed again by a holder of the key. */
const signedAgain = (text: string, change: (evidence: EvidenceFile['evidence']) => void): string => {
  const file = JSON.parse(text) as EvidenceFile;
  change(file.evidence);
  return JSON.stringify({ ...file, signature: sealingKey.sign(JSON.stringify(file.evidence)) });
};

test('the evidence of a round names its entries and is verified with the public key alone', async () => {
  const { service, playerId, roundId, text } = await sealedRound();
  await using _ = service;
  const { entries, checkpoints, currency } = verifyEvidence(text, publicKeys);
  expect(entries.map(({ operation, amount, seq }) => [operation, amount, seq])).toEqual([
    ['debit', '-1000', '2'],
    ['credit', '0', '4'],
    ['credit', '2550', '5'],
  ]);
  expect(entries[0]).toMatchObject({ playerId, roundId, balanceAfter: '99000', idSpace: 'game' });
  expect(currency).toBe('EUR');
  expect(checkpoints.length).toBeGreaterThan(1);
  const saved = await savedCheckpoints(service);
  verifyCheckpoints([...checkpoints, ...saved], publicKeys);
  const pages = await Promise.all(
    saved.map((_saved, at) => savedCheckpoints(service, `sort=-number&limit=1&page=${at + 1}`)),
  );
  expect(pages.flat()).toEqual(saved.toReversed());
});

test('a changed bit in any byte of an evidence file is detected', async () => {
  const { service, text } = await sealedRound();
  await using _ = service;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    expect(() => verifyEvidence(changed.toString(), publicKeys), `byte ${at}`).toThrow(/./);
  }
  expect(() => verifyEvidence(`${text} `, publicKeys)).toThrow('another spelling');
  expect(() => verifyEvidence(text.slice(0, -1), publicKeys)).toThrow('not JSON');
});

/** Each gets the entries and checkpoints of the evidence and changes them. */
const forgeries: [string, string, (evidence: EvidenceFile['evidence']) => void][] = [
  [
    'a changed amount',
    'not what checkpoint',
    ({ entries }) =>
      entries.splice(0, 1, ...entries.slice(0, 1).map((entry) => ({ ...entry, amount: '-1' }))),
  ],
  ['entries in another order', 'out of order', ({ entries }) => entries.push(...entries.splice(0, 1))],
  ['an entry that is there twice', 'out of order', ({ entries }) => entries.push(...entries.slice(-1))],
  [
    'an added entry',
    'not what checkpoint',
    ({ entries }) =>
      entries.push(...entries.slice(-1).map((entry) => ({ ...entry, seq: '6', transactionId: 'new' }))),
  ],
  ['a dropped checkpoint', 'is missing', ({ checkpoints }) => checkpoints.splice(0, 1)],
  [
    'a changed root',
    'signature is wrong',
    ({ checkpoints }) =>
      checkpoints.splice(0, 1, ...checkpoints.slice(0, 1).map((one) => ({ ...one, root: '0'.repeat(64) }))),
  ],
  ['the name of another round', 'another round', (evidence) => Object.assign(evidence, { roundId: 'other' })],
];

test.each(forgeries)('%s is detected although the file was signed again', async (_name, reason, change) => {
  const { service, text } = await sealedRound();
  await using _ = service;
  expect(() => verifyEvidence(signedAgain(text, change), publicKeys)).toThrow(reason);
});

test('a dropped entry is detected by the signature of the file', async () => {
  const { service, text } = await sealedRound();
  await using _ = service;
  const file = JSON.parse(text) as EvidenceFile;
  file.evidence.entries.pop();
  expect(() => verifyEvidence(JSON.stringify(file), publicKeys)).toThrow('signature of the file');
});

test('evidence does not hold with the key of somebody else', async () => {
  const { service, text } = await sealedRound();
  await using _ = service;
  const { x } = sealingKeyOf(newSealingJwk());
  expect(() => verifyEvidence(text, publicKeysOf({ kty: 'OKP', crv: 'Ed25519', x }))).toThrow(
    'key that was not given',
  );
});

test('a rewritten database is detected against a checkpoint that was kept before', async () => {
  const { service, sql, playerId, roundId } = await sealedRound();
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
  expect((await askEvidence(service, playerId, roundId)).status).toBe(500);
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
  expect(() => verifyCheckpoints([...kept, ...now], publicKeys)).toThrow('there are two');
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

test('verify-evidence and the independent verifier in Python agree', async () => {
  const { service, text } = await sealedRound();
  await using _ = service;
  const folder = await mkdtemp(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = { evidence: join(folder, 'evidence.json'), keys: join(folder, 'keys.json') };
  const kept = join(folder, 'checkpoints.json');
  await writeFile(files.keys, (await (await service.agent()).get('/v1/audit/keys')).text);
  await writeFile(kept, JSON.stringify({ checkpoints: await savedCheckpoints(service) }));
  const verdict = async (program: string, script: URL): Promise<boolean> => {
    const given = [script.pathname, files.evidence, '--key', files.keys, '--checkpoints', kept];
    return run(program, given).then(
      // The id of the round has characters that break and reverse a line: none is printed as it is.
      ({ stdout }) => /^proven: round [ -~é]+\n$/.test(stdout),
      () => false,
    );
  };
  const both = async (content: string): Promise<boolean[]> => {
    await writeFile(files.evidence, content);
    return Promise.all([
      verdict(process.execPath, new URL('../../../packages/sealed-log/src/main.ts', import.meta.url)),
      verdict('python3', new URL('../../../packages/sealed-log/verify_evidence.py', import.meta.url)),
    ]);
  };
  expect(await both(`${text}\n`)).toEqual([true, true]);
  for (const [, , change] of forgeries.slice(0, 3))
    expect(await both(signedAgain(text, change))).toEqual([false, false]);
  expect(await both(text.replace('"EUR"', '"USD"'))).toEqual([false, false]);
  expect(await both(text.replace(':', ': '))).toEqual([false, false]);
  await writeFile(kept, JSON.stringify({ checkpoints: (await savedCheckpoints(service)).slice(-1) }));
  expect(await both(text)).toEqual([false, false]);
});
