import { createHmac } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import * as persona from './fixtures/persona.ts';
import * as veriff from './fixtures/veriff.ts';
import { startService } from './harness.ts';
import { startStandIn } from './simulate/stand-in.ts';

const standIn = await startStandIn();
const service = await startService();
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const get = async (path: string) => (await service.admin('GET', `/v1/stores/${path}`)).body;

/** Sends bodies one after the other and waits until each is processed. */
const sendAll = async (path: string, token: string, bodies: readonly unknown[]) => {
  for (const body of bodies) {
    await service.hook(path, token, body);
    await service.settled();
  }
};

test('persona: its own payload and that of the contract are accepted; a missing status is looked up; signatures are checked', async () => {
  const { id, webhookToken } = await service.store({
    identity: {
      kind: 'persona',
      baseUrl: standIn.url,
      credentials: { apiKey: 'pk', webhookSecret: 'wbhsec_1,wbhsec_2' },
    },
  });
  const sign = (body: string, at = Math.floor(Date.now() / 1000)) =>
    `t=${at},v1=${createHmac('sha256', 'wbhsec_2').update(`${at}.${body}`).digest('hex')}`;
  const send = (body: object, signature?: string) => {
    const text = JSON.stringify(body);
    return service.hook('identity-verification-updated/persona', webhookToken, text, {
      'persona-signature': signature ?? sign(text),
    });
  };
  await send(persona.approved);
  await send(persona.approved);
  await service.settled();
  const inquiryId = persona.inquiry.data.id;
  expect(await get(`${id}/verifications/${inquiryId}`)).toMatchObject({
    service: 'persona',
    status: 'approved',
    userId: 'user-1',
    completed: false,
  });
  const old = { service: 'persona', transactionId: inquiryId, status: 'PENDING_REVIEW', updatedAt: 1 };
  await send(old);
  await send({ ...old, transactionId: 'inq_other' }, 't=1,v1=00');
  standIn.inquiries.set('inq_looked_up', { data: { ...persona.inquiry.data, id: 'inq_looked_up' } });
  await send({ service: 'persona', transactionId: 'inq_looked_up' });
  await service.settled();
  expect((await get(`${id}/verifications`))['verifications']).toMatchObject([
    { transactionId: 'inq_looked_up', status: 'approved' },
    { transactionId: inquiryId, status: 'approved' },
  ]);
  expect((await get(`${id}/events?status=refused`))['events']).toHaveLength(1);
});

test('veriff: progress and decisions are stored, signatures are checked, and a completed verification stays completed', async () => {
  const { id, webhookToken } = await service.store({
    identity: { kind: 'veriff', credentials: { webhookSecret: 'vs' } },
  });
  const send = (event: string, body: object) => {
    const text = JSON.stringify(body);
    const signature = createHmac('sha256', 'vs').update(text).digest('hex');
    return service.hook(`${event}/veriff`, webhookToken, text, { 'x-hmac-signature': signature });
  };
  const path = `${id}/verifications/${veriff.submitted.id}`;
  await send('identity-verification-updated', veriff.submitted);
  await service.settled();
  expect(await get(path)).toMatchObject({ status: 'submitted', completed: false, userId: 'user-2' });
  await send('identity-verification-completed', veriff.declined);
  await service.settled();
  expect(await get(path)).toMatchObject({ status: 'declined', completed: true });
  const earlier = { ...veriff.declined.verification, code: 9103, decisionTime: '2024-03-15T18:00:00.000Z' };
  await send('identity-verification-updated', { ...veriff.declined, verification: earlier });
  await service.settled();
  expect(await get(path)).toMatchObject({ status: 'declined', completed: true });
});

test.each([
  ['review', veriff.review],
  ['abandoned', veriff.abandoned],
  ['expired', veriff.expired],
])('veriff: the status %s of a decision is stored unchanged', async (status, body) => {
  const { id, webhookToken } = await service.store({ identity: { kind: 'veriff' } });
  await sendAll('identity-verification-updated/veriff', webhookToken, [body]);
  expect(await get(`${id}/verifications/${veriff.submitted.id}`)).toMatchObject({ status, userId: 'user-2' });
});

test.each([
  ['with a time', veriff.approved, 'approved'],
  ['without a time', veriff.abandoned, 'abandoned'],
])('veriff: a late `submitted` does not overwrite a decision %s', async (_name, decision, status) => {
  const { id, webhookToken } = await service.store({ identity: { kind: 'veriff' } });
  const started = { ...veriff.submitted, code: 7001, action: 'started' };
  const path = `${id}/verifications/${veriff.submitted.id}`;
  await sendAll('identity-verification-updated/veriff', webhookToken, [started, veriff.submitted]);
  expect(await get(path)).toMatchObject({ status: 'submitted' });
  await sendAll('identity-verification-updated/veriff', webhookToken, [
    decision,
    { ...started, feature: 'x' },
  ]);
  expect(await get(path)).toMatchObject({ status });
  await sendAll('identity-verification-updated/veriff', webhookToken, [veriff.declined]);
  expect(await get(path)).toMatchObject({ status: 'declined' });
});

test('veriff: a full auto result is stored as a verification; a watchlist result is ignored', async () => {
  const { id, webhookToken } = await service.store({ identity: { kind: 'veriff' } });
  const bodies = [veriff.fullAuto, veriff.approved, veriff.watchlist];
  await sendAll('identity-verification-completed/veriff', webhookToken, bodies);
  expect(await get(`${id}/verifications/${veriff.fullAuto.sessionId}`)).toMatchObject({
    status: 'approved',
    userId: 'user-2',
  });
  expect(await get(`${id}/verifications/${veriff.watchlist.sessionId}`)).toMatchObject({
    status: 'approved',
  });
  const { events } = await get(`${id}/events`);
  expect(events).toMatchObject([{ status: 'ignored' }, { status: 'done' }, { status: 'done' }]);
});

test.each(['kebab', 'snake', 'camel'] as const)(
  'persona: with %s keys the user is found and an older event does not overwrite a newer one',
  async (inflection) => {
    const { id, webhookToken } = await service.store({
      identity: { kind: 'persona', baseUrl: standIn.url, credentials: { apiKey: 'pk' } },
    });
    const bodies = [persona.approved, persona.pending].map((body) => persona.inflected(body, inflection));
    await sendAll('identity-verification-updated/persona', webhookToken, bodies);
    const record = { status: 'approved', userId: 'user-1' };
    expect(await get(`${id}/verifications/${persona.inquiry.data.id}`)).toMatchObject(record);
    const inquiry = persona.inflected({ data: { ...persona.inquiry.data, id: 'inq_looked_up' } }, inflection);
    standIn.inquiries.set('inq_looked_up', inquiry as Record<string, unknown>);
    const relayed = { service: 'persona', transactionId: 'inq_looked_up' };
    await sendAll('identity-verification-updated/persona', webhookToken, [relayed]);
    expect(await get(`${id}/verifications/inq_looked_up`)).toMatchObject(record);
  },
);

test('persona: events of cases and single verifications create no record', async () => {
  const { id, webhookToken } = await service.store({ identity: { kind: 'persona' } });
  const bodies = [persona.caseCreated, persona.verificationPassed];
  await sendAll('identity-verification-updated/persona', webhookToken, bodies);
  expect((await get(`${id}/verifications`))['verifications']).toEqual([]);
  expect((await get(`${id}/events`))['events']).toMatchObject([{ status: 'ignored' }, { status: 'ignored' }]);
});
