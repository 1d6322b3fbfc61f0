import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkpointHash, noCheckpoint, signCheckpoint, type Checkpoint } from './checkpoint.ts';
import { entryHash, type Evidence, type SealedEntry } from './evidence.ts';
import { publicJwk, publicKeysOf, sealingKeyOf, type SealingKey } from './keys.ts';
import { merkleLevels, pathTo, rootOf } from './merkle.ts';
import { verifyCheckpoints, verifyEvidence } from './verify.ts';

const newKey = (): SealingKey =>
  sealingKeyOf(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));
const key = newKey();
const stranger = newKey();
const jwks = { keys: [publicJwk(key.x)] };
const keys = publicKeysOf(jwks);

const entry = (seq: number, overrides: Partial<SealedEntry> = {}): SealedEntry => ({
  playerId: 'ada',
  seq: String(seq),
  operation: 'credit',
  transactionId: `t-${seq}`,
  roundId: 'r-1',
  gameCode: 'dice',
  amount: '500',
  balanceAfter: String(500 * seq),
  reverses: null,
  roundClosed: false,
  at: `2026-01-01T00:00:0${seq}.000Z`,
  idSpace: 'game',
  ...overrides,
});

const sealed: [SealedEntry[], SealedEntry[]] = [
  [
    entry(1),
    entry(2, { amount: '-500', operation: 'debit', roundClosed: null }),
    entry(3, { roundId: 'r-2' }),
  ],
  [entry(4), entry(5, { roundClosed: true })],
];

const leavesOf = (entries: SealedEntry[]): Buffer =>
  Buffer.concat(entries.map((sealedEntry) => entryHash(sealedEntry, 'EUR')));

const sealRange = (entries: SealedEntry[], predecessor?: Checkpoint): Checkpoint =>
  signCheckpoint(
    {
      number: (predecessor?.number ?? 0) + 1,
      entries: entries.length,
      total: (predecessor?.total ?? 0) + entries.length,
      previous: predecessor === undefined ? noCheckpoint : checkpointHash(predecessor),
      root: rootOf(merkleLevels(leavesOf(entries))),
      sealedAt: '2026-01-01T00:01:00.000Z',
    },
    key,
  );
const first = sealRange(sealed[0]);
const second = sealRange(sealed[1], first);
const checkpoints = [first, second];

const evidence = (): Evidence => ({
  version: 1,
  playerId: 'ada',
  roundId: 'r-1',
  currency: 'EUR',
  closedAt: '2026-01-01T00:00:05.000Z',
  createdAt: '2026-01-01T00:02:00.000Z',
  entries: sealed.flatMap((entries, at) => {
    const levels = merkleLevels(leavesOf(entries));
    return entries
      .map((sealedEntry, leaf) => ({ ...sealedEntry, checkpoint: at + 1, leaf, path: pathTo(levels, leaf) }))
      .filter(({ roundId }) => roundId === 'r-1');
  }),
  checkpoints: [...checkpoints],
});

/** An evidence file with this content, signed with the key. */
const signed = (content: unknown, by = key): string => {
  const text = JSON.stringify(content);
  return `{"evidence":${text},"keyId":"${by.keyId}","signature":"${by.sign(text)}"}`;
};

const text = signed(evidence());

/** An evidence file whose content was changed before it was signed. */
const signedAfterChange = (change: (content: Evidence) => unknown): string => {
  const content = evidence();
  change(content);
  return signed(content);
};

const merge = (target: object | undefined, changes: object): unknown => Object.assign(target ?? {}, changes);

test('unchanged evidence is proven', () => {
  expect(verifyEvidence(text, keys)).toEqual(evidence());
  verifyCheckpoints(checkpoints, keys);
});

/** False evidence with a valid signature: the holder of the key lies. */
const lies: [name: string, message: string, change: (content: Evidence) => unknown][] = [
  ['another amount', 'entry 1: is not what', ({ entries }) => merge(entries[0], { amount: '501' })],
  [
    'another spelling of an amount',
    'entry 1: is not what',
    ({ entries }) => merge(entries[0], { amount: '0500' }),
  ],
  ['another seq', 'entry 9: is not what', ({ entries }) => merge(entries.at(-1), { seq: '9' })],
  ['another currency', 'entry 1: is not what', (content) => merge(content, { currency: 'JPY' })],
  ['an invalid currency', 'is not evidence', (content) => merge(content, { currency: 'EUR\n' })],
  ['a closed round presented as open', 'closedAt', (content) => merge(content, { closedAt: null })],
  ['another closing time', 'closedAt', (content) => merge(content, { closedAt: '2026-01-01T00:00:04.000Z' })],
  [
    'a closing entry presented as not closing',
    'entry 5: is not what',
    ({ entries }) => merge(entries.at(-1), { roundClosed: false }),
  ],
  ['a missing closing entry', 'closedAt', ({ entries }) => entries.pop()],
  ['an empty id instead of null', 'is not evidence', ({ entries }) => merge(entries[0], { reverses: '' })],
  [
    'a line end in an id',
    'is not evidence',
    ({ entries }) => merge(entries[0], { transactionId: 't-1\nr-1' }),
  ],
  [
    'a boolean written as text',
    'is not evidence',
    ({ entries }) => merge(entries[0], { roundClosed: 'false' }),
  ],
  ['entries in another order', 'out of order', (content) => (content.entries = content.entries.toReversed())],
  ['a duplicate entry', 'out of order', ({ entries }) => entries.push(...entries.slice(-1))],
  ['no entries', 'is not evidence', (content) => merge(content, { entries: [] })],
  ['an entry of another round', 'another round', ({ entries }) => merge(entries[0], { roundId: 'r-2' })],
  ['an entry of another player', 'another round', ({ entries }) => merge(entries[0], { playerId: 'bob' })],
  ['the id of another round', 'another round', (content) => merge(content, { roundId: 'r-2' })],
  ['another leaf index', 'entry 1: is not what', ({ entries }) => merge(entries[0], { leaf: 1 })],
  [
    'a leaf index beyond the tree',
    'entry 1: is not what',
    ({ entries }) => merge(entries[0], { leaf: 2 ** 40 }),
  ],
  ['a negative leaf index', 'is not evidence', ({ entries }) => merge(entries[0], { leaf: -1 })],
  ['a fractional leaf index', 'is not evidence', ({ entries }) => merge(entries[0], { leaf: 0.5 })],
  ['a shorter path', 'entry 1: is not what', ({ entries }) => entries[0]?.path.pop()],
  ['a longer path', 'entry 1: is not what', ({ entries }) => entries[0]?.path.push(noCheckpoint)],
  [
    'a path in upper-case hex',
    'is not evidence',
    ({ entries }) => merge(entries[0], { path: [noCheckpoint.replaceAll('0', 'A')] }),
  ],
  [
    'an inner node of the tree as an entry',
    'entry 1: is not what',
    ({ entries }) => entries[0]?.path.shift(),
  ],
  ['a missing checkpoint', 'checkpoint 1 is missing', (content) => content.checkpoints.shift()],
  ['a duplicate checkpoint', 'twice', (content) => content.checkpoints.push(...checkpoints.slice(0, 1))],
  ['no checkpoints', 'is not evidence', (content) => merge(content, { checkpoints: [] })],
  [
    'another root',
    'signature is wrong',
    (content) => (content.checkpoints = [{ ...first, root: noCheckpoint }]),
  ],
  [
    'the signature of another checkpoint',
    'checkpoint 1: signature is wrong',
    (content) => (content.checkpoints[0] = { ...first, signature: second.signature }),
  ],
  [
    'a checkpoint signed by a stranger',
    'unknown key',
    (content) => (content.checkpoints[0] = signCheckpoint(first, stranger)),
  ],
  [
    'a checkpoint signed by a stranger with our key id',
    'signature is wrong',
    (content) => (content.checkpoints[0] = { ...signCheckpoint(first, stranger), keyId: key.keyId }),
  ],
  ['an unknown field', 'is not evidence', (content) => merge(content, { paidOut: true })],
  ['another version', 'is not evidence', (content) => merge(content, { version: 2 })],
];

/** Evidence files whose bytes were changed without the key. */
const forgeries: [name: string, message: string, file: string][] = [
  ['evidence signed by a stranger', 'unknown key', signed(evidence(), stranger)],
  [
    'evidence signed by a stranger with our key id',
    'signature of the file',
    signed(evidence(), { ...stranger, keyId: key.keyId }),
  ],
  ['a removed entry', 'signature of the file', text.replace(/,\{"playerId":"ada","seq":"5".*?\]\}/, '')],
  [
    'a signature with different unused bits',
    'signature of the file',
    text.replace(/.(?="\}$)/, (last) =>
      last === 'A' ? 'B' : String.fromCodePoint((last.codePointAt(0) ?? 0) + 1),
    ),
  ],
  ['a padded signature', 'signature of the file', text.replace(/"\}$/, '=="}')],
  ['an empty signature', 'signature of the file', text.replace(/"signature":"[^"]*"\}$/, '"signature":""}')],
  [
    'a signature of zeros',
    'signature of the file',
    text.replace(/"signature":"[^"]*"\}$/, `"signature":"${'A'.repeat(86)}"}`),
  ],
  [
    'a duplicate field',
    'different bytes',
    text.replace('"currency":"EUR"', '"currency":"JPY","currency":"EUR"'),
  ],
  ['an escaped letter', 'different bytes', text.replace('"EUR"', String.raw`"\u0045UR"`)],
  ['a number in another notation', 'different bytes', text.replace('"version":1', '"version":1.0')],
  ['an extra space', 'different bytes', text.replace(':', ': ')],
  ['a space at the end', 'different bytes', `${text} `],
  ['a byte order mark', 'not JSON', `\uFEFF${text}`],
  [
    'a __proto__ field',
    'is not evidence',
    text.replace('{"evidence"', '{"__proto__":{"keyId":"x"},"evidence"'),
  ],
  ['a list', 'is not evidence', '[]'],
  ['null', 'is not evidence', 'null'],
  ['an empty file', 'not JSON', ''],
  ['a truncated file', 'not JSON', text.slice(0, -1)],
];

const hostile = [
  ...lies.map(([name, message, change]) => [name, message, signedAfterChange(change)] as const),
  ...forgeries,
];

test.each(hostile)('a hostile evidence file is not proven: %s', (_name, message, file) => {
  expect(file).not.toBe(text);
  expect(() => verifyEvidence(file, keys)).toThrow(message);
});

test('one changed bit in any byte of an evidence file is detected', () => {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    expect(() => verifyEvidence(changed.toString(), keys), `byte ${at}`).toThrow(/./);
  }
});

test('the program proves a valid file, and rejects hostile ones with exit code 1 and one line of text', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [evidenceFile, jwksFile] = [join(folder, 'evidence.json'), join(folder, 'keys.json')];
  writeFileSync(jwksFile, JSON.stringify(jwks));
  const program = new URL('main.ts', import.meta.url).pathname;
  const options: ExecFileSyncOptions = { stdio: 'pipe', encoding: 'utf8' };
  const verify = (content: string): unknown => {
    writeFileSync(evidenceFile, content);
    return execFileSync(process.execPath, [program, evidenceFile, '--key', jwksFile], options);
  };
  expect(verify(text)).toBe('proven: round r-1 of player ada (entries: 4)\n');
  for (const [, , content] of [hostile[0], hostile[10], hostile.at(-4), hostile.at(-1)].filter(
    (sample) => sample !== undefined,
  )) {
    let failure: unknown;
    try {
      verify(content);
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^.+\n$/) });
  }
});
