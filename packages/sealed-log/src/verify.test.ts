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

const entry = (seq: number, more: Partial<SealedEntry> = {}): SealedEntry => ({
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
  ...more,
});

const sealed: [SealedEntry[], SealedEntry[]] = [
  [
    entry(1),
    entry(2, { amount: '-500', operation: 'debit', roundClosed: null }),
    entry(3, { roundId: 'r-2' }),
  ],
  [entry(4), entry(5, { roundClosed: true })],
];

const sealRange = (entries: SealedEntry[], before?: Checkpoint): Checkpoint =>
  signCheckpoint(
    {
      number: (before?.number ?? 0) + 1,
      entries: entries.length,
      total: (before?.total ?? 0) + entries.length,
      previous: before === undefined ? noCheckpoint : checkpointHash(before),
      root: rootOf(merkleLevels(Buffer.concat(entries.map((one) => entryHash(one, 'EUR'))))),
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
    const levels = merkleLevels(Buffer.concat(entries.map((one) => entryHash(one, 'EUR'))));
    return entries
      .map((one, leaf) => ({ ...one, checkpoint: at + 1, leaf, path: pathTo(levels, leaf) }))
      .filter(({ roundId }) => roundId === 'r-1');
  }),
  checkpoints: [...checkpoints],
});

/** The file of evidence that a holder of the key signed, whatever is in it. */
const signed = (content: unknown, by = key): string => {
  const text = JSON.stringify(content);
  return `{"evidence":${text},"keyId":"${by.keyId}","signature":"${by.sign(text)}"}`;
};

const text = signed(evidence());

const changed = (change: (content: Evidence) => unknown): string => {
  const content = evidence();
  change(content);
  return signed(content);
};

const merge = (target: object | undefined, more: object): unknown => Object.assign(target ?? {}, more);

test('evidence that was not changed is proven', () => {
  expect(verifyEvidence(text, keys)).toEqual(evidence());
  verifyCheckpoints(checkpoints, keys);
});

/** Bundles whose signature is right: the holder of the key lies. */
const lies: [string, string, (content: Evidence) => unknown][] = [
  ['another amount', 'entry 1: is not what', ({ entries }) => merge(entries[0], { amount: '501' })],
  [
    'another spelling of an amount',
    'entry 1: is not what',
    ({ entries }) => merge(entries[0], { amount: '0500' }),
  ],
  ['another number', 'entry 9: is not what', ({ entries }) => merge(entries.at(-1), { seq: '9' })],
  ['another currency', 'entry 1: is not what', (content) => merge(content, { currency: 'JPY' })],
  ['a currency that is none', 'is not evidence', (content) => merge(content, { currency: 'EUR\n' })],
  ['a round said to be open', 'closedAt', (content) => merge(content, { closedAt: null })],
  [
    'another time of closing',
    'closedAt',
    (content) => merge(content, { closedAt: '2026-01-01T00:00:04.000Z' }),
  ],
  [
    'an entry that closes nothing',
    'entry 5: is not what',
    ({ entries }) => merge(entries.at(-1), { roundClosed: false }),
  ],
  ['a missing closing entry', 'closedAt', ({ entries }) => entries.pop()],
  ['an empty id instead of none', 'is not evidence', ({ entries }) => merge(entries[0], { reverses: '' })],
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
  ['an entry that is there twice', 'out of order', ({ entries }) => entries.push(...entries.slice(-1))],
  ['no entries', 'is not evidence', (content) => merge(content, { entries: [] })],
  ['an entry of another round', 'another round', ({ entries }) => merge(entries[0], { roundId: 'r-2' })],
  ['an entry of another player', 'another round', ({ entries }) => merge(entries[0], { playerId: 'bob' })],
  ['the name of another round', 'another round', (content) => merge(content, { roundId: 'r-2' })],
  ['another place in the tree', 'entry 1: is not what', ({ entries }) => merge(entries[0], { leaf: 1 })],
  [
    'a place outside of the tree',
    'entry 1: is not what',
    ({ entries }) => merge(entries[0], { leaf: 2 ** 40 }),
  ],
  ['a place before the tree', 'is not evidence', ({ entries }) => merge(entries[0], { leaf: -1 })],
  ['a place that is no whole number', 'is not evidence', ({ entries }) => merge(entries[0], { leaf: 0.5 })],
  ['a shorter path', 'entry 1: is not what', ({ entries }) => entries[0]?.path.pop()],
  ['a longer path', 'entry 1: is not what', ({ entries }) => entries[0]?.path.push(noCheckpoint)],
  [
    'a path in capitals',
    'is not evidence',
    ({ entries }) => merge(entries[0], { path: [noCheckpoint.replaceAll('0', 'A')] }),
  ],
  ['a node of the tree as an entry', 'entry 1: is not what', ({ entries }) => entries[0]?.path.shift()],
  ['a checkpoint that is missing', 'checkpoint 1 is missing', (content) => content.checkpoints.shift()],
  [
    'a checkpoint that is there twice',
    'there twice',
    (content) => content.checkpoints.push(...checkpoints.slice(0, 1)),
  ],
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
    'a checkpoint of a stranger',
    'key that was not given',
    (content) => (content.checkpoints[0] = signCheckpoint(first, stranger)),
  ],
  [
    'a checkpoint of a stranger under our name',
    'signature is wrong',
    (content) => (content.checkpoints[0] = { ...signCheckpoint(first, stranger), keyId: key.keyId }),
  ],
  ['a field that nobody checks', 'is not evidence', (content) => merge(content, { paidOut: true })],
  ['another version', 'is not evidence', (content) => merge(content, { version: 2 })],
];

/** Bundles whose bytes were changed by somebody without the key. */
const forgeries: [string, string, string][] = [
  ['evidence signed by a stranger', 'key that was not given', signed(evidence(), stranger)],
  [
    'the key of a stranger under our name',
    'signature of the file',
    signed(evidence(), { ...stranger, keyId: key.keyId }),
  ],
  ['a dropped entry', 'signature of the file', text.replace(/,\{"playerId":"ada","seq":"5".*?\]\}/, '')],
  [
    'a signature with other unused bits',
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
    'a field that is there twice',
    'another spelling',
    text.replace('"currency":"EUR"', '"currency":"JPY","currency":"EUR"'),
  ],
  ['an escaped letter', 'another spelling', text.replace('"EUR"', String.raw`"\u0045UR"`)],
  ['a number in another spelling', 'another spelling', text.replace('"version":1', '"version":1.0')],
  ['a space', 'another spelling', text.replace(':', ': ')],
  ['a space at the end', 'another spelling', `${text} `],
  ['a byte order mark', 'not JSON', `\uFEFF${text}`],
  ['a prototype', 'is not evidence', text.replace('{"evidence"', '{"__proto__":{"keyId":"x"},"evidence"')],
  ['a list', 'is not evidence', '[]'],
  ['null', 'is not evidence', 'null'],
  ['nothing', 'not JSON', ''],
  ['a part of the file', 'not JSON', text.slice(0, -1)],
];

const hostile = [
  ...lies.map(([name, reason, change]) => [name, reason, changed(change)] as const),
  ...forgeries,
];

test.each(hostile)('a hostile bundle is not proven: %s', (_name, reason, bundle) => {
  expect(bundle).not.toBe(text);
  expect(() => verifyEvidence(bundle, keys)).toThrow(reason);
});

test('a changed bit in any byte of an evidence file is detected', () => {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    const other = Buffer.from(bytes);
    other[at] = (other[at] ?? 0) ^ (1 << (at % 8));
    expect(() => verifyEvidence(other.toString(), keys), `byte ${at}`).toThrow(/./);
  }
});

test('the program refuses hostile bundles with exit code 1 and one line, and proves the others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [bundle, jwksFile] = [join(folder, 'evidence.json'), join(folder, 'keys.json')];
  writeFileSync(jwksFile, JSON.stringify(jwks));
  const program = new URL('main.ts', import.meta.url).pathname;
  const options: ExecFileSyncOptions = { stdio: 'pipe', encoding: 'utf8' };
  const verify = (content: string): unknown => {
    writeFileSync(bundle, content);
    return execFileSync(process.execPath, [program, bundle, '--key', jwksFile], options);
  };
  expect(verify(text)).toBe('proven: round r-1 of player ada (entries: 4)\n');
  for (const [, , content] of [hostile[0], hostile[10], hostile.at(-4), hostile.at(-1)].filter(
    (one) => one !== undefined,
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
