import { afterEach, expect, test, vi } from 'vitest';
import { startService } from './harness.ts';

afterEach(() => void vi.useRealTimers());

const minute = 60_000;
const skewMs = 5 * minute;

test('what callers create has the time and the order of the database, whatever the clock of the instance says', async () => {
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

  /** One of each, by an instance whose clock is ahead by `aheadMs`. */
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
