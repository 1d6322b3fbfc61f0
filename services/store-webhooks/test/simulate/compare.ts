import { setTimeout as sleep } from 'node:timers/promises';
import type { Expected } from './traffic.ts';

interface Where {
  /** Of the service or the gateway. */
  url: string;
  /** With the scope stores:admin. */
  adminToken: string;
  storeId: string;
}

const patienceMs = 120_000;

/** Repeats a request until it is answered, because the service may be restarting. */
const read = async ({ url, adminToken, storeId }: Where, path: string): Promise<Record<string, unknown>> => {
  const giveUp = Date.now() + patienceMs;
  for (;;) {
    const answer = await fetch(`${url}/v1/stores/${storeId}/${path}`, {
      headers: { authorization: `Bearer ${adminToken}` },
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (answer?.ok) return (await answer.json()) as Record<string, unknown>;
    await answer?.body?.cancel();
    const isTransient = answer === undefined || answer.status === 429 || answer.status >= 500;
    if (!isTransient || Date.now() > giveUp) throw new Error(`${path}: ${answer?.status ?? 'no answer'}`);
    await sleep(200);
  }
};

/** Every item of a list, page after page. */
const all = async (where: Where, path: string, name: string): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  for (let page = 1; ; page++) {
    const mark = path.includes('?') ? '&' : '?';
    const body = await read(where, `${path}${mark}page=${page}&limit=200`);
    items.push(...(body[name] as Record<string, unknown>[]));
    if (!(body['page'] as { has_more: boolean }).has_more) return items;
  }
};

/** Waits until no event is left to be processed. */
const settle = async (where: Where): Promise<void> => {
  const giveUp = Date.now() + patienceMs;
  while ((((await read(where, 'events?status=pending&limit=1'))['events'] as unknown[]) ?? []).length > 0) {
    if (Date.now() > giveUp) throw new Error('Events are still pending.');
    await sleep(200);
  }
};

const compare = async (where: Where, run: string, expected: Expected, broken: number): Promise<string[]> => {
  const kinds = [
    ['orders', 'orders', 'id', 'status'],
    ['members', 'members', 'id', 'email'],
    ['delivery-jobs', 'deliveryJobs', 'id', 'stage'],
    ['verifications', 'verifications', 'transactionId', 'status'],
  ] as const;
  const wanted = [expected.orders, expected.members, expected.jobs, expected.verifications];
  const differences: string[] = [];
  for (const [at, [path, name, key, value]] of kinds.entries()) {
    const found = new Map((await all(where, path, name)).map((item) => [item[key], item[value]]));
    for (const [id, should] of wanted[at] ?? []) {
      if (found.get(id) !== should)
        differences.push(`${path} ${id}: ${String(found.get(id))} instead of ${should}`);
    }
  }
  const failed = await all(where, 'events?status=failed', 'events');
  const ours = failed.filter(({ entity }) => String(entity).startsWith(`order:${run}-broken`));
  if (ours.length !== broken) differences.push(`${ours.length} failed events instead of ${broken}`);
  return differences;
};

/** How long events may stay in the spool, which no list shows, after the database was away. */
const spoolPatienceMs = 120_000;

/** Waits until all events are processed. Returns the differences between the records of the service and the expected ones. */
export const differencesWhenDone = async (
  where: Where,
  run: string,
  expected: Expected,
  broken: number,
  waitMs = spoolPatienceMs,
): Promise<string[]> => {
  for (const giveUp = Date.now() + waitMs; ; await sleep(500)) {
    await settle(where);
    const differences = await compare(where, run, expected, broken);
    if (differences.length === 0 || Date.now() > giveUp) return differences;
  }
};
