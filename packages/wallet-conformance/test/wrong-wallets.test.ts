import { randomInt } from 'node:crypto';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { certify } from '../src/certify/run.ts';
import type { Call } from '../src/history/call.ts';
import { createEarlierState } from '../src/history/earlier-state.ts';
import { judge, minimalContradiction, type Violation } from '../src/history/judge.ts';
import { recordAndJudge } from '../src/history/record.ts';
import { readCalls } from '../src/history/report.ts';
import { hasSerialOrder } from '../src/history/serial-order.ts';
import { faults, type Fault } from './faults.ts';
import { simulate } from './simulate.ts';
import { muchTrouble, noTrouble } from './unreliable-network.ts';
import { startWallet } from './wallet-server.ts';
import { recordRightWallet } from './wrong-wallets.ts';

// These tests are a sample; `node test/all-wrong-wallets.ts` certifies and records every wrong wallet over HTTP.

const seed = randomInt(2 ** 31);

beforeEach(({ task, onTestFailed }) => {
  onTestFailed(() => void process.stderr.write(`${task.name}: seed ${seed}\n`));
});

/** Only `certify` finds this fault, because only one of its cases sends ids that differ in upper and lower case. */
const foundByCertifyOnly: Fault = 'ids compared without case';
const crashes = { ...noTrouble, crashEvery: muchTrouble.crashEvery };

const simulateUntilViolation = async (fault: Fault): Promise<Violation[]> => {
  for (let run = 0; run < 50; run++) {
    const calls = await simulate({ seed: seed + run, seconds: 3, fault, trouble: crashes });
    const { violations } = judge(calls);
    if (violations.length > 0) return violations;
  }
  return [];
};

describe('the checker finds', () => {
  test.each(faults.filter((fault) => fault !== foundByCertifyOnly))('%s', async (fault) => {
    expect(await simulateUntilViolation(fault)).not.toEqual([]);
  });
});

test('a contradiction is minimal', async () => {
  const calls = await simulate({ seed, seconds: 4, fault: 'replica that lags by 20 ms' });
  // Excludes violations that name earlier histories, because these would have to be passed to the search, too.
  const violations = judge(calls).violations.filter(({ earlier }) => earlier.length === 0);
  const minima = violations.flatMap(({ calls: historyCalls, opening: balance }) => {
    const opening = { balance, earlier: createEarlierState(), declared: { noLimits: false } };
    const budget = { steps: 10_000 };
    const contradiction = minimalContradiction(historyCalls, opening, budget);
    return budget.steps > 0 ? [{ historyCalls, opening, contradiction }] : [];
  });
  expect(minima).not.toEqual([]);
  for (const { historyCalls, opening, contradiction } of minima) {
    const hasOrderWithout = (isDropped: (call: Call) => boolean) =>
      hasSerialOrder(
        historyCalls.map((call) =>
          isDropped(call) ? { ...call, answered: null, status: null, balance: null } : call,
        ),
        opening,
      );
    expect(hasOrderWithout((call) => !contradiction.includes(call))).toBe(false);
    for (const needed of contradiction)
      expect(hasOrderWithout((call) => call === needed || !contradiction.includes(call))).toBe(true);
  }
});

test('a right wallet has no violation, however many requests and answers are lost', async () => {
  for (const trouble of [noTrouble, muchTrouble, { ...noTrouble, crashEvery: 400 }]) {
    const calls = await simulate({ seed, seconds: 30, trouble });
    const { violations, histories } = judge(calls, { noLimits: true });
    expect(violations).toEqual([]);
    expect(histories).toBeGreaterThan(10);
  }
});

test('a history with a call that is never answered is not judged', async () => {
  const silent = { ...noTrouble, lostAnswer: 1 };
  expect(judge(await simulate({ seed, seconds: 1, patience: 5, trouble: silent })).notJudged).toHaveLength(1);
});

test('a continued recording detects a wallet that has forgotten the transactions of the first recording', async () => {
  const first = await simulate({ seed, seconds: 2 });
  const balance = first.at(-1)?.balance ?? 0;
  const both = await simulate({ seed: seed + 1, seconds: 2, balance, resumed: first });
  expect(judge(first).violations).toEqual([]);
  expect(judge(both).violations).not.toEqual([]);
});

describe.concurrent('over HTTP', () => {
  test.concurrent('a right wallet keeps the contract, also after a pause', async () => {
    using wallet = await startWallet({ seed });
    const results = await certify({ ...wallet.target, otherPlayer: 'bob' }, undefined, 1.5);
    expect(results.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expect(results.some(({ group }) => group === 'After a pause')).toBe(true);
  });

  test.concurrent.each<[Fault, string, string]>([
    ['duplicate detection that forgets after 1 s', 'After a pause', 'a repeated debit is applied once'],
    ['rollback that forgets debits older than 1 s', 'After a pause', 'a rollback refunds a debit'],
    ['tombstones that expire after 1 s', 'After a pause', 'a debit that arrives after its rollback'],
    ['closed rounds that expire after 1 s', 'After a pause', 'a new credit in a closed round'],
    ['old balance in the answer to a rollback', 'Happy path', 'a rollback refunds a debit'],
    ['ids compared without case', 'Edge cases', 'ids that look alike are different ids'],
    ['tombstone ignored', 'Errors', 'a debit that arrives after its rollback is refused'],
    ['rollback refunds twice', 'Idempotency', 'a second rollback of the same debit'],
  ])('a wallet with "%s" fails a case of "%s"', async (fault, group, title) => {
    using wallet = await startWallet({ seed, fault });
    const failed = (await certify(wallet.target, undefined, 1.5)).filter(
      ({ failure }) => failure !== undefined,
    );
    expect(failed).toContainEqual(expect.objectContaining({ group, title: expect.stringContaining(title) }));
  });

  test.concurrent('a right wallet that loses requests and crashes has no violation', async () => {
    expect(await recordRightWallet(seed, 3)).toMatchObject({ violations: [] });
  });

  test.concurrent('a recording of a wallet can be continued', async () => {
    using wallet = await startWallet({ seed });
    await using folder = await mkdtempDisposable(join(tmpdir(), 'resume-'));
    const [before, after] = [join(folder.path, 'before'), join(folder.path, 'after')];
    const options = { target: wallet.target, players: ['ada'], seconds: 1, seed };
    await recordAndJudge({ ...options, file: before });
    const resumed = await readCalls(before);
    const verdict = await recordAndJudge({ ...options, file: after, resumed });
    expect(verdict).toMatchObject({ violations: [], notJudged: [] });
    const calls = await readCalls(after);
    expect(calls.slice(0, resumed.length)).toEqual(resumed);
    const earlierIds = new Set(resumed.flatMap(({ transaction }) => transaction ?? []));
    expect(
      calls
        .slice(resumed.length)
        .some(({ transaction = '', reverses = '' }) =>
          [transaction, reverses].some((id) => earlierIds.has(id)),
        ),
    ).toBe(true);
  });
});
