import { setTimeout as sleep } from 'node:timers/promises';
import type { Expected } from './traffic.ts';

interface Target {
  /** Address of the service or the gateway. */
  url: string;
  /** Token with the scope stores:admin. */
  adminToken: string;
  storeId: string;
}

const timeoutMs = 120_000;

/** Repeats a request until it is answered, because the service may be restarting. */
const read = async ({ url, adminToken, storeId }: Target, path: string): Promise<Record<string, unknown>> => {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await fetch(`${url}/v1/stores/${storeId}/${path}`, {
      headers: { authorization: `Bearer ${adminToken}` },
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (answer?.ok) return (await answer.json()) as Record<string, unknown>;
    await answer?.body?.cancel();
    const isTransient = answer === undefined || answer.status === 429 || answer.status >= 500;
    if (!isTransient || Date.now() > deadline) throw new Error(`${path}: ${answer?.status ?? 'no answer'}`);
    await sleep(200);
  }
};

/** Reads all pages of a list. */
const readAll = async (target: Target, path: string, name: string): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  for (let page = 1; ; page++) {
    const mark = path.includes('?') ? '&' : '?';
    const body = await read(target, `${path}${mark}page=${page}&limit=200`);
    items.push(...(body[name] as Record<string, unknown>[]));
    if (!(body['page'] as { has_more: boolean }).has_more) return items;
  }
};

/** Waits until no event is pending. */
const waitUntilProcessed = async (target: Target): Promise<void> => {
  const deadline = Date.now() + timeoutMs;
  while ((((await read(target, 'events?status=pending&limit=1'))['events'] as unknown[]) ?? []).length > 0) {
    if (Date.now() > deadline) throw new Error('Events are still pending.');
    await sleep(200);
  }
};

const compare = async (
  target: Target,
  run: string,
  expected: Expected,
  broken: number,
): Promise<string[]> => {
  const recordLists = [
    ['orders', 'orders', 'id', 'status'],
    ['members', 'members', 'id', 'email'],
    ['delivery-jobs', 'deliveryJobs', 'id', 'stage'],
    ['verifications', 'verifications', 'transactionId', 'status'],
  ] as const;
  const expectedRecords = [expected.orders, expected.members, expected.jobs, expected.verifications];
  const differences: string[] = [];
  for (const [at, [path, name, key, value]] of recordLists.entries()) {
    const actual = new Map((await readAll(target, path, name)).map((item) => [item[key], item[value]]));
    for (const [id, expectedValue] of expectedRecords[at] ?? []) {
      if (actual.get(id) !== expectedValue)
        differences.push(`${path} ${id}: ${String(actual.get(id))} instead of ${expectedValue}`);
    }
  }
  const failed = await readAll(target, 'events?status=failed', 'events');
  const brokenEvents = failed.filter(({ entity }) => String(entity).startsWith(`order:${run}-broken`));
  if (brokenEvents.length !== broken)
    differences.push(`${brokenEvents.length} failed events instead of ${broken}`);
  return differences;
};

/** Time for which events may stay in the spool, which no list shows, after an outage of the database. */
const spoolTimeoutMs = 120_000;

/** Waits until all events are processed. Returns the differences between the records of the service and the expected ones. */
export const differencesWhenDone = async (
  target: Target,
  run: string,
  expected: Expected,
  broken: number,
  waitMs = spoolTimeoutMs,
): Promise<string[]> => {
  for (const deadline = Date.now() + waitMs; ; await sleep(500)) {
    await waitUntilProcessed(target);
    const differences = await compare(target, run, expected, broken);
    if (differences.length === 0 || Date.now() > deadline) return differences;
  }
};
