import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { captureLog } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { receivedEventOf } from './received-event.ts';

const maxBytes = 300_000;

test('the events of one store leave room in the spool for those of others, and a replay gives all of it back', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'spool-'));
  let isAway = true;
  const spool = createSpool({
    folder,
    maxBytes,
    log: captureLog().log,
    pauseMs: 5,
    store: async () => {
      if (isAway) throw new Error('The database is unavailable.');
    },
  });
  /** Adds events of a store until one is refused; returns the bytes that the spool has taken of it. */
  const fill = async (store: string): Promise<number> => {
    const before = spool.bytes;
    const event = receivedEventOf({
      storeId: `01980000-0000-7000-8000-00000000000${store}`,
      body: Buffer.alloc(5000),
    });
    let refusal: unknown;
    while (refusal === undefined) await spool.add(event).catch((error: unknown) => (refusal = error));
    expect(refusal).toMatchObject({ status: 503, code: 'spool_full' });
    return spool.bytes - before;
  };
  const first = await fill('1');
  expect(first).toBeGreaterThan(maxBytes / 2);
  const others = [await fill('2'), await fill('3')];
  expect(Math.min(...others)).toBeGreaterThan(10_000);
  expect(spool.bytes).toBeLessThanOrEqual(maxBytes);
  isAway = false;
  await expect.poll(() => spool.active).toBe(false);
  isAway = true;
  expect(await fill('1')).toBe(first);
  await spool[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
