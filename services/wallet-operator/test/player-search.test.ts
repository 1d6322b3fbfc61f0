import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { person } from './people.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { sql } = service.context.database;
await addGame(sql);
const ann = await person(service);

for (const [playerId, name, options] of [
  ['p-100', 'Ada Öztürk', {}],
  ['p-200', "Bob O'Neil 100%", { status: 'disabled' }],
  ['p_300', null, { currency: 'CNY' }],
  ['p-400', 'Straße', { excluded: true, excludedUntil: '2999-12-31', currency: 'CNY' }],
  ['p-500', '李雷', { excluded: true, excludedUntil: '2020-01-01' }],
] as const) {
  await addPlayer(sql, options, playerId);
  await sql`update players set name = ${name} where player_id = ${playerId}`;
}

const found = async (query: Record<string, string>) => {
  const { status, body } = await ann.get(`/v1/players?${new URLSearchParams(query).toString()}`);
  expect(status).toBe(200);
  return (body['players'] as { playerId: string }[]).map(({ playerId }) => playerId).toSorted();
};

test.each([
  [{ q: 'P-1' }, ['p-100']],
  [{ q: 'öZTÜRK' }, ['p-100']],
  [{ q: "o'neil" }, ['p-200']],
  [{ q: '100%' }, ['p-200']],
  [{ q: 'p_' }, ['p_300']],
  [{ q: 'STRASSE' }, ['p-400']],
  [{ q: '李' }, ['p-500']],
  [{ q: 'nobody' }, []],
  [{ q: 'p-', currency: 'RMB' }, ['p-400']],
  [{ status: 'disabled' }, ['p-200']],
  [{ status: 'active', currency: 'EUR' }, ['p-100', 'p-500']],
  [{ currency: 'CNY' }, ['p-400', 'p_300']],
  [{ excluded: 'true' }, ['p-400']],
  [{ excluded: 'false', status: 'active', currency: 'EUR' }, ['p-100', 'p-500']],
])('players are found by %j', async (query, playerIds) => {
  expect(await found(query)).toEqual(playerIds);
});

test('pages of a search follow each other, and wrong filters are refused by name', async () => {
  const pages = await Promise.all([1, 2, 3].map((page) => ann.get(`/v1/players?q=p-&limit=2&page=${page}`)));
  expect(pages.map(({ body }) => (body['players'] as unknown[]).length)).toEqual([2, 2, 0]);
  for (const [name, value] of [
    ['q', ''],
    ['q', '\0'],
    ['status', 'gone'],
    ['currency', 'eur'],
    ['excluded', 'yes'],
  ] as const) {
    const { status, body } = await ann.get(`/v1/players?${name}=${encodeURIComponent(value)}`);
    expect(status).toBe(400);
    expect(body['errors']).toHaveProperty(name);
  }
});

test('a player keeps the date of registration that was given, and callbacks answer it', async () => {
  const today = new Date().toISOString().slice(0, 10);
  for (const [registrationDate, shown] of [
    ['2011-02-28', '2011-02-28'],
    [undefined, today],
  ] as const) {
    const playerId = randomUUID();
    const made = await ann.post('/v1/players', { playerId, currency: 'EUR', registrationDate });
    expect(made).toMatchObject({ status: 201, body: { registrationDate: shown } });
    expect(await ann.get(made.location ?? '')).toMatchObject({ body: { registrationDate: shown } });
    expect(await callerOf(service, playerId).authenticate()).toMatchObject({ registrationDate: shown });
  }
  const wrong = { playerId: randomUUID(), currency: 'EUR', registrationDate: '2011-02-30' };
  expect((await ann.post('/v1/players', wrong)).body['errors']).toHaveProperty('registrationDate');
});

test('audit events are found by kind, player and time', async () => {
  const playerId = randomUUID();
  await ann.post('/v1/players', { playerId, currency: 'EUR' });
  await ann.patch(`/v1/players/${playerId}`, { name: 'Ada' });
  const events = async (query: string) =>
    (await ann.get(`/v1/audit/events?playerId=${playerId}&${query}`)).body['events'] as {
      at: string;
      kind: string;
    }[];
  const [changed, created] = await events('');
  expect([changed?.kind, created?.kind]).toEqual(['player_changed', 'player_created']);
  expect(await events('kind=player_changed')).toEqual([changed]);
  const at = changed?.at ?? '';
  expect(await events(`from=${at}`)).toEqual([changed]);
  expect(await events(`to=${at}`)).toEqual([created]);
  expect(await events(`from=${new Date(Date.parse(at) + 1).toISOString()}`)).toEqual([]);
  for (const query of ['kind=nothing', 'from=today', 'to='])
    expect((await ann.get(`/v1/audit/events?${query}`)).status).toBe(400);
});

test('audit events from an instant on include one whose stored time was rounded up', async () => {
  const playerId = await addPlayer(sql);
  // The time in the id is truncated, the stored time is rounded.
  const [event] = await sql<[{ at: string }]>`
    insert into audit_events (event_id, at, kind, player_id, details)
    values (first_id_of('2026-03-04T05:06:07.008Z'), '2026-03-04T05:06:07.0086Z', 'player_created', ${playerId}, '{}')
    returning to_json(at at time zone 'UTC') #>> '{}' || 'Z' as at`;
  expect(event.at).toBe('2026-03-04T05:06:07.009Z');
  const answer = await ann.get(`/v1/audit/events?playerId=${playerId}&from=${event.at}`);
  expect(answer.body['events']).toMatchObject([{ at: event.at }]);
  expect((await ann.get(`/v1/audit/events?playerId=${playerId}&from=1970-01-01T00:00:00Z`)).status).toBe(200);
});
