import { createSecretBox } from '@platform/auth/secret-box';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findPayments } from '../src/payments/queries.ts';
import { deleteExpiredOutcomes } from '../src/payments/use-cases.ts';
import { startStandIn } from './simulate/stand-in.ts';
import { erro, netceteraResults, rreq } from './fixtures/threeds.ts';
import { startService } from './harness.ts';

const standIn = await startStandIn();
let clock = Date.now();
const service = await startService({
  work: false,
  variables: { PROVIDER_TIMEOUT_MS: '1000' },
  overrides: { now: () => new Date(clock) },
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const cavv = 'AJkBB+ZYgQ/A=AAAAAAAAAAAAAA=';
const success = `https://shop.example.test/checkout/payment-verification/success?cavv=${encodeURIComponent(cavv)}&eci=05`;
const failure = /^https:\/\/shop\.example\.test\/checkout\/payment-verification\/failure\?msg=[\w%-]+$/;

let count = 0;
const serverId = () => `8a880dc0-d2d2-4067-bcb1-${String(++count).padStart(12, '0')}`;

const cresOf = (threeDSServerTransID: string, encoding: BufferEncoding = 'base64url', more = {}) =>
  Buffer.from(
    JSON.stringify({
      threeDSServerTransID,
      acsTransID: 'acs',
      messageType: 'CRes',
      messageVersion: '2.2.0',
      transStatus: 'Y',
      ...more,
    }),
  ).toString(encoding);

type Store = Awaited<ReturnType<typeof service.store>>;

const shop = (more: Record<string, unknown> = {}) =>
  service.store({
    payments: [
      { kind: 'threedsecureio', baseUrl: standIn.url, credentials: { apiKey: 'key-3ds-0123456789' } },
      { kind: 'netcetera', baseUrl: standIn.url },
    ],
    ...more,
  });

const register = async (store: Store, transactionId: string, kind = 'threedsecureio', more = {}) => {
  const body = { service: kind, transactionId, orderId: 'o-1', ...more };
  expect((await service.admin('POST', `/v1/stores/${store.id}/payments`, body)).status).toBe(201);
};

const complete = (store: Store, body: unknown, path = 'threedsecureio', headers = {}) =>
  service.hook(`payment-auth-completed/${path}`, store.webhookToken, body, headers);

const form = { 'content-type': 'application/x-www-form-urlencoded' };

beforeEach(() => {
  standIn.behaviour = 'normal';
  standIn.requests.length = 0;
});

test('a confirmed challenge redirects to the success page with CAVV and ECI, and the redirect is not cached', async () => {
  const store = await shop();
  const id = serverId();
  await register(store, id);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const answer = await complete(store, { service: 'threedsecureio', cres: cresOf(id), transactionId: id });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, success]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  expect(standIn.requests).toMatchObject([
    {
      method: 'POST',
      path: '/postauth',
      headers: { apikey: 'key-3ds-0123456789' },
      body: `{"threeDSServerTransID":"${id}"}`,
    },
  ]);
});

test.each(['base64', 'base64url'] as const)(
  'the form of a browser is accepted too, with its cres in %s',
  async (encoding) => {
    const store = await shop();
    const id = serverId();
    await register(store, 'session-1');
    standIn.results.set(id, { transStatus: 'A', authenticationValue: cavv, eci: '06' });
    const fields = new URLSearchParams({
      CRes: cresOf(id, encoding, { note: '????>>>>' }),
      threeDSSessionData: Buffer.from('session-1').toString('base64url'),
    });
    const answer = await complete(store, fields.toString(), 'threedsecureio', form);
    expect(answer.headers.get('location')).toBe(success.replace('eci=05', 'eci=06'));
  },
);

test('an event without a challenge or payment is answered but not stored, and a repeated event is not reported again', async () => {
  const store = await shop();
  const errors = () => service.lines.filter((line) => line.includes('processing failed')).length;
  const before = errors();
  for (let n = 0; n < 3; n++)
    expect((await complete(store, `cres=x${n}`, undefined, form)).headers.get('location')).toMatch(failure);
  const events = async () =>
    (await service.admin('GET', `/v1/stores/${store.id}/events`)).body['events'] as unknown as unknown[];
  expect([await events(), errors() - before]).toEqual([[], 0]);
  for (let n = 0; n < 3; n++) await complete(store, 'cres=x&threeDSSessionData=unknown', undefined, form);
  expect([(await events()).length, errors() - before]).toEqual([1, 1]);
});

test('a few unsettled events of a network are stored per minute, and the others are only answered', async () => {
  const store = await shop();
  const invented = (transactionId: string, address: string) =>
    complete(store, { service: 'threedsecureio', cres: cresOf(serverId()), transactionId }, undefined, {
      'x-forwarded-for': address,
    });
  for (let n = 0; n < 30; n++) expect((await invented(`i-${n}`, '203.0.113.10')).status).toBe(200);
  const id = serverId();
  await register(store, id);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const body = { service: 'threedsecureio', cres: cresOf(id), transactionId: id };
  const neighbour = await complete(store, body, undefined, { 'x-forwarded-for': '203.0.113.10' });
  expect(neighbour.headers.get('location')).toBe(success);
  // The provider has no result yet, so the event is stored and retried.
  await register(store, 'later');
  standIn.behaviour = 'error';
  const pending = { service: 'threedsecureio', cres: cresOf(serverId()), transactionId: 'later' };
  await complete(store, pending, undefined, { 'x-forwarded-for': '203.0.113.10' });
  await invented('elsewhere', '203.0.113.11');
  const events = (await service.admin('GET', `/v1/stores/${store.id}/events?limit=100`)).body['events'];
  const names = (events as unknown as { entity: string }[]).map(({ entity }) => entity);
  expect(names).toContain('payment:elsewhere');
  expect(names).toContain('payment:later');
  expect(names.length).toBeLessThanOrEqual(13);
});

test('a response does not wait until its event is counted', async () => {
  const begin = () => ({ end: () => new Promise<void>(() => undefined) });
  await using instance = await startService({ work: false, overrides: { unsettledLimit: { begin } } });
  const { webhookToken } = await instance.store();
  const body = { service: 'threedsecureio', cres: cresOf(serverId()), transactionId: 'uncounted' };
  expect((await instance.hook('payment-auth-completed/threedsecureio', webhookToken, body)).status).toBe(200);
});

test('settled payments are always stored, even if many of them come from one network', async () => {
  const store = await shop();
  const ids = Array.from({ length: 15 }, serverId);
  for (const id of ids) {
    await register(store, id);
    standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
    await complete(store, { service: 'threedsecureio', cres: cresOf(id), transactionId: id });
  }
  const events = (await service.admin('GET', `/v1/stores/${store.id}/events?limit=100`)).body['events'];
  expect((events as unknown as object[]).length).toBe(15);
});

test('the event of a payment has at most 64 KiB', async () => {
  const store = await shop();
  const answers = [65_536, 65_537].map((bytes) =>
    complete(store, `cres=x&a=${'y'.repeat(bytes - 9)}`, undefined, form),
  );
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([302, 413]);
});

test('netcetera is requested with its own path and header', async () => {
  const store = await shop();
  const id = serverId();
  await register(store, id, 'netcetera');
  standIn.results.set(id, netceteraResults(id));
  const answer = await complete(store, { service: 'netcetera', cres: cresOf(id) }, 'netcetera');
  expect(answer.headers.get('location')).toBe(success);
});

test("the browser's transStatus is ignored: N from the provider, or Y without a CAVV, leads to the failure page", async () => {
  const store = await shop();
  for (const result of [
    { transStatus: 'N' },
    { transStatus: 'Y' },
    { transStatus: 'U', authenticationValue: cavv },
  ]) {
    const id = serverId();
    await register(store, id);
    standIn.results.set(id, result);
    const answer = await complete(store, { service: 'threedsecureio', cres: cresOf(id), transactionId: id });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, expect.stringMatching(failure)]);
  }
});

test('a reload redirects again even if the provider has deleted the result; after a day the provider is queried again', async () => {
  const store = await shop();
  const id = serverId();
  await register(store, id);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const body = { service: 'threedsecureio', cres: cresOf(id), transactionId: id };
  await complete(store, body);
  standIn.results.delete(id);
  clock += 23 * 3_600_000;
  expect((await complete(store, body)).headers.get('location')).toBe(success);
  expect(standIn.requests).toHaveLength(1);
  clock += 2 * 3_600_000;
  expect((await complete(store, body)).headers.get('location')).toMatch(failure);
  const { sql } = service.context.database;
  const [row] = await sql`select outcome from payment_challenges where store_id = ${store.id}`;
  expect(row?.['outcome']).not.toContain(cavv);
});

test('a JSON body without a service and an unregistered transaction are answered with {} and logged', async () => {
  const store = await shop();
  const id = serverId();
  for (const body of [
    { cres: cresOf(id), transactionId: id },
    { service: 'threedsecureio', cres: cresOf(id), transactionId: id },
  ]) {
    const before = service.lines.length;
    const answer = await complete(store, body);
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
    expect(service.lines.slice(before).join('')).toContain('processing failed');
  }
  expect(standIn.requests).toEqual([]);
});

test.each([
  ['an unknown service', () => ({ service: 'somebody', cres: cresOf('x') })],
  ['no cres', () => ({ service: 'threedsecureio', transactionId: 't' })],
  ['a cres that is not JSON', () => ({ service: 'threedsecureio', cres: 'bm90IGpzb24' })],
  ['a cres that is not base64', () => ({ service: 'threedsecureio', cres: '<script>' })],
  ['a cres without an id', () => ({ service: 'threedsecureio', cres: Buffer.from('{}').toString('base64') })],
])('%s leads to the failure page', async (_name, body) => {
  const answer = await complete(await shop(), body());
  expect([answer.status, answer.headers.get('location')]).toEqual([302, expect.stringMatching(failure)]);
});

test('a stored outcome that no key can decrypt is replaced by a new query to the provider', async () => {
  const store = await shop();
  const id = serverId();
  await register(store, id);
  standIn.results.set(id, rreq(id));
  const payload = { service: 'threedsecureio', cres: cresOf(id) };
  expect((await complete(store, payload)).headers.get('location')).toBe(success);
  const { sql } = service.context.database;
  const sealed = createSecretBox('ef'.repeat(32)).seal('{}', 'elsewhere');
  await sql`update payment_challenges set outcome = ${sealed} where store_id = ${store.id}`;
  expect((await complete(store, payload)).headers.get('location')).toBe(success);
});

test.each(['hang', 'html', 'redirect', 'error', 'garbage'] as const)(
  'a provider that answers with %s leads to the failure page, and the next attempt queries it again',
  async (behaviour) => {
    // A new provider, so that no circuit breaker is open for it.
    await using provider = await startStandIn();
    const store = await shop({ payments: { kind: 'threedsecureio', baseUrl: provider.url } });
    const id = serverId();
    await register(store, id);
    provider.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
    provider.behaviour = behaviour;
    const body = { service: 'threedsecureio', cres: cresOf(id), transactionId: id };
    expect((await complete(store, body)).headers.get('location')).toMatch(failure);
    expect(provider.requests).toHaveLength(behaviour === 'redirect' || behaviour === 'garbage' ? 1 : 2);
    provider.behaviour = 'normal';
    expect((await complete(store, body)).headers.get('location')).toBe(success);
  },
);

test.each(['authenticationValue', 'eci'])(
  'an %s of the provider that is not well-formed text leads to the failure page',
  async (field) => {
    const store = await shop();
    const id = serverId();
    await register(store, id);
    standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05', [field]: '\ud800' });
    const answer = await complete(store, { service: 'threedsecureio', cres: cresOf(id) });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, expect.stringMatching(failure)]);
  },
);

test('challenges that the provider does not know fail at once, so that invented ones are not retried for a day', async () => {
  const store = await shop();
  await register(store, 'tx-3');
  const body = { service: 'threedsecureio', cres: cresOf(serverId()), transactionId: 'tx-3' };
  expect((await complete(store, body)).headers.get('location')).toMatch(failure);
  expect((await service.admin('GET', `/v1/stores/${store.id}/events`)).body['events']).toMatchObject([
    { status: 'failed', error: 'The provider does not know the transaction.' },
  ]);
});

test('only one event of a payment with an unfinished challenge is retried, whatever ids the browser sends', async () => {
  const store = await shop();
  const id = serverId();
  await register(store, 'tx-open', 'threedsecureio', { threeDSServerTransId: id });
  standIn.results.set(id, { transStatus: 'C' });
  for (const transactionId of ['r-1', 'r-2', 'r-2', 'tx-open']) {
    const body = { service: 'threedsecureio', cres: cresOf(id), transactionId };
    expect((await complete(store, body)).headers.get('location')).toMatch(failure);
  }
  expect((await service.admin('GET', `/v1/stores/${store.id}/events`)).body['events']).toMatchObject([
    { status: 'ignored', error: 'Another event of this payment is retried until it has a result.' },
    { status: 'ignored' },
    { status: 'pending', entity: 'payment:r-1', error: null },
  ]);
  standIn.results.set(id, rreq(id));
  expect(await sendForm(store, id)).toBe(success);
});

test("another store's token gets the failure page for a transaction, and never its CAVV", async () => {
  const [owner, thief] = [await shop(), await shop()];
  const id = serverId();
  await register(owner, id);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const body = { service: 'threedsecureio', cres: cresOf(id), transactionId: id };
  expect((await complete(owner, body)).headers.get('location')).toBe(success);
  expect((await complete(thief, body)).headers.get('location')).toMatch(failure);
  await register(thief, 'own-1');
  const crossed = { service: 'threedsecureio', cres: cresOf(id), transactionId: 'own-1' };
  expect((await complete(thief, crossed)).headers.get('location')).toMatch(failure);
});

test('a payment is found among many that differ from it only in the case of their letters, without reading all of them', async () => {
  const [store, other] = [await shop(), await shop()];
  const { sql, orm } = service.context.database;
  const session = 'abcdefghijkl';
  await sql`
    insert into payments (store_id, service, transaction_id, order_id, created_at)
    select ${other.id}::uuid, 'netcetera', (
      select string_agg(case when n & (1 << (at - 1)::int) > 0 then upper(letter) else letter end, '' order by at)
      from unnest(string_to_array(${session}::text, null)) with ordinality as letters (letter, at)), 'o-1', now()
    from generate_series(0, 3000) n`;
  const find = async (id: string, serverId = 'none') =>
    (await findPayments(orm, store.id, 'netcetera', [id], serverId)).payments;
  expect(await find(session)).toHaveLength(2);
  await service.admin('POST', `/v1/stores/${store.id}/payments`, {
    service: 'netcetera',
    transactionId: session,
    orderId: 'o-1',
  });
  const found = await find(session, session.toUpperCase());
  expect(found.length).toBeLessThanOrEqual(3);
  expect(found).toContainEqual(expect.objectContaining({ storeId: store.id, transactionId: session }));
  expect(found).toContainEqual(expect.objectContaining({ storeId: other.id }));
});

test('a second challenge of a registered payment is accepted, and each challenge keeps its own result', async () => {
  const store = await shop();
  const [first, second] = [serverId(), serverId()];
  await register(store, 'tx-1');
  standIn.results.set(first, { transStatus: 'N' });
  standIn.results.set(second, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const body = (id: string) => ({ service: 'threedsecureio', cres: cresOf(id), transactionId: 'tx-1' });
  const locationFor = async (id: string) => (await complete(store, body(id))).headers.get('location');
  expect([await locationFor(first), await locationFor(second)]).toEqual([
    expect.stringMatching(failure),
    success,
  ]);
  standIn.results.clear();
  expect([await locationFor(first), await locationFor(second)]).toEqual([
    expect.stringMatching(failure),
    success,
  ]);
});

test('a challenge belongs to the payment that it first confirmed, even after that payment has another challenge', async () => {
  const store = await shop();
  const [first, second] = [serverId(), serverId()];
  for (const id of [first, second])
    standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  await register(store, 'tx-cheap');
  await register(store, 'tx-dear');
  const send = async (transactionId: string, id: string) =>
    (await complete(store, { service: 'threedsecureio', cres: cresOf(id), transactionId })).headers.get(
      'location',
    );
  expect(await send('tx-cheap', first)).toBe(success);
  expect(await send('tx-cheap', second)).toBe(success);
  for (const id of [first, second]) expect(await send('tx-dear', id)).toMatch(failure);
});

test.each(['threedsecureio', 'netcetera'])(
  '%s: a transStatus that is not final is not stored, and the next attempt queries the provider again',
  async (kind) => {
    const store = await shop();
    const id = serverId();
    await register(store, id, kind);
    const send = async () =>
      (await complete(store, { service: kind, cres: cresOf(id) }, kind)).headers.get('location');
    // An EMV error message has status 200 too; D and C are followed by another result.
    const other = { transStatus: 'Y', authenticationValue: cavv, eci: '05', threeDSServerTransID: 'other' };
    const open = [erro(id), { transStatus: 'C' }, { transStatus: 'D' }, { transStatus: 'S' }, {}, other];
    for (const result of open) {
      standIn.results.set(id, result);
      expect([result, await send()]).toEqual([result, expect.stringMatching(failure)]);
    }
    standIn.results.set(id, rreq(id));
    expect(await send()).toBe(success);
  },
);

test.each(['N', 'U', 'R', 'I'])(
  'transStatus %s is final and always leads to the failure page, even with a CAVV',
  async (transStatus) => {
    const store = await shop();
    const id = serverId();
    await register(store, id);
    const send = async () =>
      (await complete(store, { service: 'threedsecureio', cres: cresOf(id) })).headers.get('location');
    standIn.results.set(id, { transStatus, authenticationValue: cavv, eci: '05' });
    expect(await send()).toMatch(failure);
    standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
    expect(await send()).toMatch(failure);
  },
);

test('if body and path name different services, that of the body is used and a warning is logged', async () => {
  const store = await shop();
  const id = serverId();
  await register(store, id);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const before = service.lines.length;
  const answer = await complete(store, { service: 'threedsecureio', cres: cresOf(id) }, 'netcetera');
  expect(answer.headers.get('location')).toBe(success);
  expect(service.lines.slice(before).join('')).toContain('different services');
});

test('the redirect leads below the store address, with a slash added, whatever the request contains', async () => {
  const store = await shop({ storeUrl: 'https://shop.example.test' });
  const evil = 'https://evil.example/';
  const id = serverId();
  await register(store, id);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: `${evil}&x=`, eci: '5#//evil' });
  const answer = await complete(
    store,
    {
      service: 'threedsecureio',
      cres: cresOf(id, 'base64url', { store_url: evil, redirect: evil }),
      transactionId: id,
      storeUrl: evil,
      store_url: evil,
      msg: evil,
    },
    'threedsecureio',
    { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  );
  const location = new URL(answer.headers.get('location') ?? '');
  expect([location.origin, location.pathname, location.hash]).toEqual([
    'https://shop.example.test',
    '/checkout/payment-verification/success',
    '',
  ]);
  expect(location.searchParams.get('cavv')).toBe(`${evil}&x=`);
  const unknown = await complete(store, { service: `${evil}\r\nLocation: ${evil}`, cres: evil });
  expect(unknown.headers.get('location')).toMatch(failure);
});

test('registering a payment again changes nothing, not even how long its outcome is stored', async () => {
  const store = await shop();
  const id = withSuccess(serverId());
  await register(store, 'session-again', 'threedsecureio', { threeDSServerTransId: id });
  clock += 25 * 3_600_000;
  expect(await sendForm(store, id)).toBe(success);
  standIn.results.delete(id);
  await register(store, 'session-again', 'threedsecureio', { threeDSServerTransId: id });
  expect(await sendForm(store, id)).toBe(success);
});

test('a payment can be registered for one order only', async () => {
  const store = await shop();
  await register(store, 'tx-2');
  await register(store, 'tx-2');
  const other = { service: 'threedsecureio', transactionId: 'tx-2', orderId: 'o-2' };
  expect(await service.admin('POST', `/v1/stores/${store.id}/payments`, other)).toMatchObject({
    status: 409,
    body: { code: 'payment_exists' },
  });
});

const withSuccess = (id: string) => {
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  return id;
};

const sendForm = async (store: Store, id: string, session?: string) => {
  const fields = new URLSearchParams({ cres: cresOf(id), ...(session && { threeDSSessionData: session }) });
  return (await complete(store, fields.toString(), 'threedsecureio', form)).headers.get('location');
};

const mismatches = async () =>
  Number(
    /^webhooks_challenge_mismatches_total (\d+)$/m.exec(
      await service.context.metrics.registry.metrics(),
    )?.[1],
  );

test('a payment that is registered with its challenge accepts no other, and its challenge confirms no other payment', async () => {
  const store = await shop();
  const [cheap, expensive] = [withSuccess(serverId()), withSuccess(serverId())];
  await register(store, 'session-cheap');
  await register(store, 'session-expensive', 'threedsecureio', { threeDSServerTransId: expensive });
  const before = await mismatches();
  for (const id of [cheap, cheap.toUpperCase()])
    expect(await sendForm(store, id, 'session-expensive')).toMatch(failure);
  expect(await sendForm(store, expensive.toUpperCase(), 'session-cheap')).toMatch(failure);
  expect(standIn.requests).toEqual([]);
  expect((await mismatches()) - before).toBe(3);
  expect((await service.admin('GET', `/v1/stores/${store.id}/events`)).body['events']).toMatchObject([
    { status: 'failed', error: 'The challenge belongs to another payment.' },
    { status: 'failed' },
    { status: 'failed' },
  ]);
  expect(await sendForm(store, expensive, 'session-expensive')).toBe(success);
  expect(await sendForm(store, cheap, 'session-cheap')).toBe(success);
});

test('a challenge that was registered with its payment needs no other id from the browser', async () => {
  const store = await shop();
  const id = withSuccess(serverId());
  await register(store, 'session-2', 'threedsecureio', { threeDSServerTransId: id });
  expect(await sendForm(store, id)).toBe(success);
});

test('an unregistered challenge belongs to the first payment that it completes, even among concurrent requests of two stores', async () => {
  const stores = [await shop(), await shop()];
  const id = withSuccess(serverId());
  const sessions = stores.flatMap((store) => [1, 2, 3, 4].map((n) => ({ store, session: `race-${n}` })));
  for (const { store, session } of sessions) await register(store, session);
  const spellings = [id, id.toUpperCase()];
  const race = () =>
    Promise.all(
      sessions.map(({ store, session }, at) => sendForm(store, spellings[at % 2] as string, session)),
    );
  standIn.behaviour = 'hang';
  const racing = race();
  await expect.poll(() => standIn.requests.length).toBe(sessions.length);
  standIn.behaviour = 'normal';
  standIn.results.set(id.toUpperCase(), { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  standIn.release();
  const first = await racing;
  expect(first.filter((location) => location === success)).toHaveLength(1);
  clock += 48 * 3_600_000;
  expect(await race()).toEqual(first);
});

test('a challenge can be registered for one payment of all stores, and a payment with one challenge', async () => {
  const [store, other] = [await shop(), await shop()];
  const [id, used] = [serverId(), withSuccess(serverId())];
  const post = (to: Store, transactionId: string, threeDSServerTransId: unknown) =>
    service.admin('POST', `/v1/stores/${to.id}/payments`, {
      service: 'threedsecureio',
      transactionId,
      orderId: 'o-1',
      threeDSServerTransId,
    });
  await register(store, 'unbound');
  expect(await sendForm(store, used, 'unbound')).toBe(success);
  for (const [to, transactionId, challenge, status, code] of [
    [store, 'bound', id, 201, undefined],
    [store, 'bound', id, 201, undefined],
    [store, 'bound', serverId(), 409, 'payment_exists'],
    [store, 'unbound', serverId(), 409, 'payment_exists'],
    [store, 'another', id.toUpperCase(), 409, 'challenge_taken'],
    [other, 'another', id, 409, 'challenge_taken'],
    [other, 'another', used, 409, 'challenge_taken'],
    [store, 'another', 'with space', 400, 'validation_failed'],
  ] as const) {
    const answer = await post(to, transactionId, challenge);
    expect([transactionId, challenge, answer.status, answer.body['code']]).toEqual([
      transactionId,
      challenge,
      status,
      code,
    ]);
  }
  const view = await service.admin('GET', `/v1/stores/${store.id}/payments/bound`);
  expect(view.body).toMatchObject({ threeDSServerTransId: id });
  // A rejected registration stores nothing.
  expect((await service.admin('GET', `/v1/stores/${other.id}/payments`)).body['payments']).toEqual([]);
});

interface PaymentBody {
  status: string;
  eci: string | null;
  settledAt: string | null;
  cavv: string | null;
  orderKnown: boolean;
}

const paymentOf = async (store: Store, transactionId: string, query = '') =>
  (await service.admin('GET', `/v1/stores/${store.id}/payments/${transactionId}${query}`))
    .body as unknown as PaymentBody;

const revealsOf = async (store: Store) =>
  (await service.admin('GET', `/v1/stores/${store.id}/event-reveals`)).body['eventReveals'];

const settle = (store: Store, transactionId: string, id: string, result: Record<string, unknown>) => {
  standIn.results.set(id, result);
  return complete(store, { service: 'threedsecureio', cres: cresOf(id), transactionId });
};

const succeeded = { transStatus: 'Y', authenticationValue: cavv, eci: '05' };

test('the shop reads the result of a payment with ECI, time and CAVV, and each access to the CAVV is recorded', async () => {
  const store = await shop();
  await register(store, 'paid');
  expect(await paymentOf(store, 'paid')).toMatchObject({
    status: 'pending',
    eci: null,
    settledAt: null,
    cavv: null,
    orderKnown: false,
  });
  expect(await revealsOf(store)).toEqual([]);
  await settle(store, 'paid', serverId(), succeeded);
  const { sql } = service.context.database;
  await sql`
    insert into orders (store_id, id, status, details, event_id, updated_at)
    values (${store.id}, 'o-1', 'PENDING', '{}', uuidv7(), now())`;
  const settledAt = new Date(clock).toISOString();
  const result = { status: 'succeeded', eci: '05', settledAt, orderKnown: true };
  expect(await paymentOf(store, 'paid')).toMatchObject({ ...result, cavv });
  expect(await revealsOf(store)).toMatchObject([
    { kind: 'cavv', eventId: null, service: 'threedsecureio', transactionId: 'paid' },
  ]);
  // The list has no CAVV.
  const { body } = await service.admin('GET', `/v1/stores/${store.id}/payments`);
  expect([body['payments'], JSON.stringify(body).includes('cavv')]).toMatchObject([[result], false]);
});

test('a payment keeps status, ECI and time when its CAVV is deleted after a day', async () => {
  const store = await shop();
  await register(store, 'paid');
  await settle(store, 'paid', serverId(), succeeded);
  clock += 25 * 3_600_000;
  expect(await paymentOf(store, 'paid')).toMatchObject({ status: 'succeeded', eci: '05', cavv: null });
  expect(await revealsOf(store)).toEqual([]);
});

test('expired outcomes are deleted a thousand at a time, so that none is kept after a long pause; others stay', async () => {
  const { id } = await shop();
  const { sql } = service.context.database;
  await deleteExpiredOutcomes(service.context);
  await sql`
    insert into payment_challenges (store_id, service, three_ds_server_trans_id, transaction_id, outcome, outcome_at)
    select ${id}, 'netcetera', 'expired-' || n, 't-' || n, 'sealed', to_timestamp(${clock / 1000}::float8) - n * interval '1 hour'
    from generate_series(1, 1200) n`;
  expect([
    await deleteExpiredOutcomes(service.context),
    await deleteExpiredOutcomes(service.context),
  ]).toEqual([true, false]);
  const kept = await sql`
    select from payment_challenges where store_id = ${id} and outcome is not null`;
  expect(kept).toHaveLength(24);
});

test('a failed challenge of a payment may be followed by a successful one, whose result stays', async () => {
  const store = await shop();
  await register(store, 'tried');
  await settle(store, 'tried', serverId(), { transStatus: 'N' });
  expect(await paymentOf(store, 'tried')).toMatchObject({ status: 'failed', eci: null, cavv: null });
  await settle(store, 'tried', serverId(), succeeded);
  await settle(store, 'tried', serverId(), { transStatus: 'N' });
  await settle(store, 'tried', serverId(), { ...succeeded, authenticationValue: 'other', eci: '06' });
  expect(await paymentOf(store, 'tried')).toMatchObject({ status: 'succeeded', eci: '05', cavv });
});

test('the result of a challenge belongs to one payment only, not to the same id in another service or store', async () => {
  const store = await shop();
  const other = await shop();
  await register(store, 'same');
  clock += 1;
  await register(store, 'same', 'netcetera');
  await register(other, 'same');
  await settle(store, 'same', serverId(), succeeded);
  expect(await paymentOf(store, 'same', '?service=threedsecureio')).toMatchObject({ cavv });
  expect(await paymentOf(store, 'same', '?service=netcetera')).toMatchObject({
    status: 'pending',
    cavv: null,
  });
  expect(await paymentOf(other, 'same')).toMatchObject({ status: 'pending', cavv: null });
  const unknown = await service.admin('GET', `/v1/stores/${store.id}/payments/same?service=x`);
  expect(unknown.status).toBe(404);
});

test('a caller without payments:read learns nothing about a payment, and no cache stores a CAVV', async () => {
  const store = await shop();
  await register(store, 'paid');
  await settle(store, 'paid', serverId(), succeeded);
  for (const [scope, status] of [
    ['stores:write events:read events:reveal', 403],
    ['payments:read', 200],
  ] as const) {
    const answer = await fetch(`${service.url}/v1/stores/${store.id}/payments/paid`, {
      headers: { authorization: `Bearer ${await service.tokenWith(scope)}` },
    });
    expect([scope, answer.status]).toEqual([scope, status]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await answer.text()).includes(cavv)).toBe(status === 200);
  }
  expect(await revealsOf(store)).toHaveLength(1);
});

test('a result that cannot be stored for its payment is not stored at all, and the next challenge event stores it', async () => {
  const store = await shop();
  await register(store, 'paid');
  const { sql } = service.context.database;
  await sql`alter table payments add constraint refused check (status <> 'succeeded') not valid`;
  const id = serverId();
  expect((await settle(store, 'paid', id, succeeded)).headers.get('location')).toMatch(failure);
  await sql`alter table payments drop constraint refused`;
  expect(await paymentOf(store, 'paid')).toMatchObject({ status: 'pending', cavv: null });
  expect((await settle(store, 'paid', id, succeeded)).headers.get('location')).toBe(success);
  expect(await paymentOf(store, 'paid')).toMatchObject({ status: 'succeeded', cavv });
});

test('neither the log nor the event view contains a CAVV, a cres or a key', async () => {
  const store = await shop();
  const id = serverId();
  await register(store, id);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const cres = cresOf(id);
  await complete(store, { service: 'threedsecureio', cres, transactionId: id });
  const { body } = await service.admin('GET', `/v1/stores/${store.id}/events`);
  const [{ id: eventId }] = body['events'] as unknown as [{ id: string }];
  const view = await service.admin('GET', `/v1/stores/${store.id}/events/${eventId}`);
  expect(view.body).toMatchObject({
    status: 'done',
    body: { cres: '[redacted]', service: 'threedsecureio' },
  });
  const everything =
    service.lines.join('') +
    JSON.stringify(view) +
    JSON.stringify(await service.admin('GET', `/v1/stores/${store.id}`));
  for (const secret of [cavv, cres, 'key-3ds-0123456789', store.webhookToken])
    expect(everything).not.toContain(secret);
});
