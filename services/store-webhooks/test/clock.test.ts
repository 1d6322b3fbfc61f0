import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createClockEstimate } from '../src/db/clock.ts';
import { createClockCheck } from '../src/retention.ts';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';

/** Starts a process whose clock is ahead by `shiftMs`. */
const startShifted = (service: { databaseUrl: string; spool: string }, shiftMs: number) =>
  startProcess(service, {
    NODE_OPTIONS: `--import ${new URL(`clock-shift.ts?ms=${shiftMs}`, import.meta.url).href}`,
    PRUNE_PAUSE_MS: '0',
  });

const send = async (url: string, token: string, id: string, status: string): Promise<void> => {
  const body = JSON.stringify({ id, status, cart: { items: [] } });
  const answer = await fetch(`${url}/api/v1/hooks/order_updated/${token}`, { method: 'POST', body });
  expect(answer.status).toBe(200);
};

test('an order keeps its latest state although the instance that received it has a slow clock', async () => {
  await using service = await startService({ work: false });
  const { id, webhookToken } = await service.store();
  await using slow = await startShifted(service, -200);
  const count = 10;
  for (let at = 0; at < count; at++) {
    await send(service.url, webhookToken, `o-${at}`, 'OLD');
    // Half of the shift, because the order of events is only as exact as the measured clock of the database.
    await setTimeout(100);
    await send(slow.url, webhookToken, `o-${at}`, 'NEW');
  }
  await service.settled();
  const { sql } = service.context.database;
  const orders = await sql`select status from orders where store_id = ${id}`;
  expect(orders).toEqual(Array.from({ length: count }, () => ({ status: 'NEW' })));
});

test('an event is processed at once although the instance that received it has a fast clock', async () => {
  await using service = await startService();
  const { webhookToken } = await service.store();
  await using fast = await startShifted(service, 3_600_000);
  await send(fast.url, webhookToken, 'o-1', 'A');
  const { sql } = service.context.database;
  await expect.poll(() => sql`select status from orders`).toEqual([{ status: 'A' }]);
  const [{ ahead } = {}] = await sql`
    select extract(epoch from received_at - clock_timestamp()) as ahead from inbox`;
  expect(Number(ahead)).toBeLessThan(60);
});

test('a process whose clock is 40 days ahead deletes no event', async () => {
  await using service = await startService();
  const { webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, { id: 'o-1', status: 'A', cart: { items: [] } });
  await service.settled();
  await using fast = await startShifted(service, 40 * 86_400_000);
  // An event that is received after the first pruning run has started.
  await send(fast.url, webhookToken, 'o-2', 'A');
  await service.settled();
  await fast.stop();
  const { sql } = service.context.database;
  expect(await sql`select entity from inbox order by id`).toEqual([
    { entity: 'order:o-1' },
    { entity: 'order:o-2' },
  ]);
});

const days = (count: number): number => count * 86_400_000;
const minutes = (count: number): number => count * 60_000;

const hourMs = minutes(60);

/** Runs a check with both clocks off by `shift`, `minute` minutes after the first reading. */
const createCheck = () => {
  const check = createClockCheck(hourMs);
  return (shift: number, minute: number) => {
    const time = days(100) + shift + minutes(minute);
    return check({ database: time, machine: time, monotonic: minutes(minute) });
  };
};

test('nothing is deleted when the clocks of database and machine differ', () => {
  const check = createClockCheck(0);
  expect(check({ database: days(100), machine: days(100) + 1000, monotonic: 0 })).toEqual(
    new Date(days(100)),
  );
  for (const machine of [days(140), days(60)])
    expect(() => check({ database: days(100), machine, monotonic: 1000 })).toThrow('differ');
});

test('nothing is deleted for an hour after the start, because the clocks may have been changed before', () => {
  const checkAt = createCheck();
  expect(checkAt(days(40), 0)).toBeUndefined();
  expect(checkAt(days(40), 59)).toBeUndefined();
  expect(checkAt(days(40), 60)).toEqual(new Date(days(140) + hourMs));
});

test('nothing is deleted for an hour after both clocks were changed', () => {
  const checkAt = createCheck();
  checkAt(0, 0);
  expect(checkAt(0, 500)).toBeInstanceOf(Date);
  expect(() => checkAt(days(40), 501)).toThrow('set');
  expect(() => checkAt(days(40), 540)).toThrow('set');
  expect(checkAt(days(40), 562)).toBeInstanceOf(Date);
  expect(() => checkAt(0, 563)).toThrow('set');
});

test('a step of the database clock by more than five minutes counts after it is confirmed a minute later', () => {
  const estimate = createClockEstimate();
  const measure = (shift: number, second: number) =>
    estimate({ offset: shift, errorMs: 1, at: second * 1000 }).offset;
  expect(measure(0, 0)).toBe(0);
  expect(measure(minutes(4), 10)).toBe(minutes(4));
  expect(measure(days(40), 20)).toBe(minutes(4));
  expect(measure(days(40), 30)).toBe(minutes(4));
  // A different step, and a clock that was corrected again, are not confirmed.
  expect(measure(days(41), 70)).toBe(minutes(4));
  expect(measure(minutes(4), 75)).toBe(minutes(4));
  expect(measure(days(41), 90)).toBe(minutes(4));
  expect(measure(days(41), 149)).toBe(minutes(4));
  expect(measure(days(41), 150)).toBe(days(41));
});

afterEach(() => void vi.useRealTimers());

const minute = 60_000;
const skewMs = 5 * minute;

test('new records have the time and the order of the database clock, not of the clock of the instance', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await using service = await startService({ overrides: { now: () => new Date() } });
  const trueTime = Date.now();
  const shop = await service.store();
  const path = `/v1/stores/${shop.id}`;
  const post = (to: string, body: object) => service.admin('POST', `${path}/${to}`, body);
  await service.hook('order_updated', shop.webhookToken, { id: 'o-1', status: 'A', cart: { items: [] } });
  await service.settled();
  const { body: events } = await service.admin('GET', `${path}/events`);
  const [event] = events['events'] as unknown as { id: string }[];

  /** Creates one record of each list through an instance whose clock is ahead by `aheadMs`. */
  const create = async (name: string, aheadMs: number) => {
    vi.setSystemTime(trueTime + aheadMs);
    await service.store({ name });
    await post('users', { consumerUserId: name, email: `${name}@example.test` });
    await post('payments', { service: 'threedsecureio', transactionId: name, orderId: 'o-1' });
    await service.admin('PATCH', path, { name });
    await service.admin('GET', `${path}/events/${event?.id}?reveal=true`);
    return (await post('webhook-token/rotate', { graceSeconds: 60, for: 'payments' })).body;
  };
  await create('first', skewMs);
  const { previousWorksUntil } = (await create('second', 0)) as unknown as { previousWorksUntil: string };
  expect(Math.abs(Date.parse(previousWorksUntil) - trueTime - minute)).toBeLessThan(minute);

  const rowsOf = async (list: string, to: string) =>
    Object.values((await service.admin('GET', to)).body[list] ?? {}) as Record<string, unknown>[];
  const isNow = (at: number) => Math.abs(at - trueTime) < skewMs / 2;
  /** The time in a UUIDv7. */
  const timeOf = (id: unknown) => Number.parseInt(String(id).replace('-', '').slice(0, 12), 16);
  for (const [list, rows, time] of [
    ['stores', await rowsOf('stores', '/v1/stores'), 'createdAt'],
    ['users', await rowsOf('users', `${path}/users`), 'createdAt'],
    ['changes', await rowsOf('changes', `${path}/changes`), 'changedAt'],
    ['reveals', await rowsOf('eventReveals', `${path}/event-reveals`), 'revealedAt'],
    ['payments', await rowsOf('payments', `${path}/payments`), 'createdAt'],
  ] as const) {
    const [second, first] = rows.map((row) => Date.parse(String(row[time])));
    expect(second, list).toBeGreaterThanOrEqual(first ?? NaN);
    for (const { [time]: at, id } of rows.slice(0, 2))
      expect([Date.parse(String(at)), ...(id === undefined ? [] : [timeOf(id)])], list).toSatisfy(
        (times: number[]) => times.every(isNow),
      );
  }
});
