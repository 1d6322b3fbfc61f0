import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Call } from './call.ts';
import { explain, picture } from './report.ts';
import { judge } from './judge.ts';

const call = (fields: Partial<Call>): Call => ({
  player: 'ada',
  history: 0,
  operation: 'balance',
  sent: 0,
  answered: 10,
  status: 'OK',
  balance: 100,
  ...fields,
});

test('a balance that was read after an answered debit must include it', () => {
  const calls = [
    call({ sent: 0, answered: 1 }),
    call({ operation: 'debit', transaction: 'd', amount: 4, sent: 2, answered: 5, balance: 96 }),
    call({ sent: 6, answered: 8, balance: 100 }),
    call({ sent: 6, answered: 9, balance: 96 }),
  ];
  const [violation] = judge(calls).violations;
  expect(violation?.contradiction).toEqual([calls[1], calls[2]]);
  expect(violation && explain(violation)).toEqual([
    'Player ada, history 0: no order of the calls explains these answers together.',
    '  Opening balance 1.00.',
    '  1. debit d of 0.04: sent at 0.00 ms, answered at 0.01 ms with OK, balance 0.96 = opening balance − d',
    '  2. balance: sent at 0.01 ms, answered at 0.01 ms with OK, balance 1.00 = opening balance unchanged',
    '  The contradiction does not depend on the other 2 calls.',
  ]);
});

test('a balance that was read while a debit was in progress may include it or not', () => {
  for (const balance of [96, 100]) {
    const calls = [
      call({ sent: 0, answered: 1 }),
      call({ operation: 'debit', transaction: 'd', amount: 4, sent: 2, answered: 9, balance: 96 }),
      call({ sent: 3, answered: 8, balance }),
    ];
    expect(judge(calls).violations).toEqual([]);
  }
});

test('an unanswered request may take effect later, or never, but not twice', () => {
  const lost = { operation: 'debit', transaction: 'd', amount: 4, answered: null, status: null } as const;
  const read = (balance: number) => [
    call({ sent: 0, answered: 1 }),
    call({ ...lost, sent: 2, balance: null }),
    call({ ...lost, sent: 3, balance: null }),
    call({ sent: 50, answered: 60, balance }),
  ];
  expect(judge(read(100)).violations).toEqual([]);
  expect(judge(read(96)).violations).toEqual([]);
  expect(judge(read(92)).violations).toHaveLength(1);
});

test('a balance that changes between two histories is a violation', () => {
  const calls = [
    call({ sent: 0, answered: 1 }),
    call({ sent: 2, answered: 3 }),
    call({ history: 1, sent: 10, answered: 11, balance: 101 }),
  ];
  expect(judge(calls).violations).toMatchObject([{ history: 1, contradiction: [calls[2]] }]);
});

test('an opening balance that was answered only at the second attempt is valid', () => {
  const calls = [
    call({ sent: 0, answered: null, status: null, balance: null }),
    call({ sent: 1, answered: 2 }),
    call({ operation: 'debit', transaction: 'd', amount: 4, sent: 3, answered: 4, balance: 96 }),
    call({ sent: 5, answered: 6, balance: 96 }),
  ];
  expect(judge(calls)).toMatchObject({ calls: 4, violations: [], notJudged: [] });
});

test('a history without an opening balance is reported as not judged', () => {
  const calls = [call({ operation: 'debit', transaction: 'd', amount: 4, balance: 96 })];
  expect(judge(calls)).toMatchObject({
    violations: [],
    notJudged: [expect.stringContaining('ada, history 0')],
  });
});

test('the picture shows every call, contradicting calls in red, and escapes markup in ids', () => {
  const calls = [
    call({ sent: 0, answered: 1 }),
    call({ operation: 'debit', transaction: '<script>&', amount: 4, sent: 2, answered: 5, balance: 96 }),
    call({ sent: 6, answered: 8, balance: 100 }),
  ];
  const [violation] = judge(calls).violations;
  const svg = violation ? picture(violation) : '';
  expect(svg.match(/<rect x=/g)).toHaveLength(3);
  expect(svg.match(/fill="#c62828"/g)).toHaveLength(2);
  expect(svg).toContain('&lt;script&gt;&amp;');
  expect(svg).not.toContain('<script');
});

/** Histories of 30 simultaneous calls that no order explains: each has many combinations to try. */
const hostile = (histories: number): Call[] =>
  Array.from({ length: histories }, (_, history) => [
    call({ history, sent: 0, answered: 1, balance: 2 ** 40 }),
    ...Array.from({ length: 27 }, (_item, at) =>
      call({
        history,
        operation: 'debit',
        transaction: `d${history}-${at}`,
        amount: 2 ** at,
        sent: 2,
        answered: null,
        status: null,
        balance: null,
      }),
    ),
    call({ history, sent: 3, answered: 90, balance: 1 }),
    call({ history, sent: 3, answered: 91, balance: 2 }),
  ]).flat();

test('the search in a hostile recording stops after a number of steps that depends on the number of calls', () => {
  for (const histories of [9, 40]) {
    const { steps, notJudged, calls } = judge(hostile(histories));
    expect(calls).toBe(30 * histories);
    expect(steps).toBeLessThanOrEqual(500_000 + 200 * calls);
    expect(notJudged).toHaveLength(histories);
  }
});

const program = join(import.meta.dirname, '../main.ts');

const runCheck = async (text: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'judge-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'calls.jsonl');
  await writeFile(file, text);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'check', file], {
    encoding: 'utf8',
  });
  const svg = await readFile(`${file}.1.svg`, 'utf8').catch(() => '');
  return { status, printed: stdout + stderr, svg };
};

test('only printable text of a hostile recording reaches the terminal and the picture', async () => {
  const escape = '\u001b[2J\u0007\u009b31m\u202egnp.\u2028\u200b';
  const lines = [
    call({ player: escape, sent: 0, answered: 1 }),
    call({
      player: escape,
      operation: 'debit',
      transaction: escape,
      amount: 4,
      sent: 2,
      answered: 5,
      status: escape,
      balance: 96,
    }),
    call({ player: escape, sent: 6, answered: 8, balance: 55 }),
    call({ player: `${escape}2`, sent: 6, answered: 8, balance: 55, status: escape }),
    // Escapes the raw line separator, which would end the line of the file.
  ].map((line) => JSON.stringify(line).replaceAll('\u2028', '\\u2028'));
  for (const text of [lines.join('\n'), `${lines[0]}\n${escape}`, `{"player": "${escape}"`]) {
    const { status, printed, svg } = await runCheck(text);
    expect(status).toBeGreaterThan(0);
    expect(printed + svg).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  }
  expect((await runCheck(lines.join('\n'))).printed).toContain('\\u{1b}');
});

test.each([
  '',
  '\n\n',
  JSON.stringify(call({ operation: 'debit', transaction: 'd', amount: 4, balance: 96 })),
])('the recording %j, in which no history can be judged, has exit code 2', async (text) => {
  const { status, printed } = await runCheck(text);
  expect(status).toBe(2);
  expect(printed).toContain('No history could be judged');
});

test('the exit code is 2 when one of many histories was not judged, and 1 when there is also a violation', async () => {
  const correct = ['ada', 'bob', 'cem'].flatMap((player) => [
    call({ player, sent: 0, answered: 1 }),
    call({ player, sent: 2, answered: 3 }),
  ]);
  const withoutOpening = call({
    player: 'dora',
    operation: 'debit',
    transaction: 'd',
    amount: 4,
    balance: 96,
  });
  const violation = call({ player: 'cem', sent: 4, answered: 5, balance: 99 });
  const statusOf = async (calls: Call[]) =>
    (await runCheck(calls.map((recorded) => JSON.stringify(recorded)).join('\n'))).status;
  expect(await statusOf(correct)).toBe(0);
  expect(await statusOf([...correct, withoutOpening])).toBe(2);
  expect(await statusOf([...correct, withoutOpening, violation])).toBe(1);
});
