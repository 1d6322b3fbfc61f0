import { createHmac } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { createSecretBox } from '@platform/auth/secret-box';
import { urlContext } from '../src/receive/received-event.ts';
import type { ReceivedEvent } from '../src/inbox/event.ts';
import { storeEvents } from '../src/inbox/insert-events.ts';
import { taskStarted } from './fixtures/onfleet.ts';
import { startService } from './harness.ts';
import { receivedEventOf } from './received-event.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { sql } = service.context.database;

const rightSecret = 'ab'.repeat(16);
const wrongSecret = 'cd'.repeat(16);

const onfleet = (webhookSecret: string) => ({
  delivery: { kind: 'onfleet', credentials: { webhookSecret } },
});
const signatureOf = (body: object) => ({
  'x-onfleet-signature': createHmac('sha512', Buffer.from(rightSecret, 'hex'))
    .update(JSON.stringify(body))
    .digest('hex'),
});
const correctSecret = (id: string) => service.admin('PATCH', `/v1/stores/${id}`, onfleet(rightSecret));

interface ListedEvent {
  id: string;
  status: string;
  error: string | null;
}
const events = async (id: string) =>
  (await service.admin('GET', `/v1/stores/${id}/events`)).body['events'] as unknown as ListedEvent[];
const recheck = (id: string, eventId: string) =>
  service.admin('POST', `/v1/stores/${id}/events/${eventId}/recheck`);
const hour = (shift: number) => new Date(Date.now() + shift * 3_600_000).toISOString();
const span = { from: hour(-1), to: hour(1) };

test('a refused event is verified again and processed after its secret was corrected', async () => {
  const { id, webhookToken } = await service.store(onfleet(wrongSecret));
  await service.hook('job_started', webhookToken, taskStarted, signatureOf(taskStarted));
  const [refused] = await events(id);
  expect(refused).toMatchObject({ status: 'refused' });
  expect((await recheck(id, refused?.id ?? '')).body).toMatchObject({ status: 'refused' });
  await correctSecret(id);
  expect(await recheck(id, refused?.id ?? '')).toMatchObject({ status: 200, body: { status: 'pending' } });
  await service.settled();
  expect(await events(id)).toMatchObject([{ id: refused?.id, status: 'done', error: null }]);
  const { body } = await service.admin('GET', `/v1/stores/${id}/delivery-jobs/${taskStarted.taskId}`);
  expect(body).toMatchObject({ stage: 'started' });
  expect(await recheck(id, refused?.id ?? '')).toMatchObject({
    status: 409,
    body: { code: 'event_not_refused' },
  });
});

test('storing a refused event again after it was accepted (its answer was lost) changes nothing', async () => {
  const { id, webhookToken } = await service.store(onfleet(wrongSecret));
  await service.hook('job_started', webhookToken, taskStarted, signatureOf(taskStarted));
  const [row] = await sql<(ReceivedEvent & { receivedAt: string })[]>`
    select store_id as "storeId", id, event, service, entity, encode(dedup, 'hex') as dedup, body, headers, received_at as "receivedAt",
      state, error from inbox where store_id = ${id}`;
  expect(row).toMatchObject({ state: 'refused' });
  await correctSecret(id);
  await recheck(id, row?.id ?? '');
  await service.settled();
  const stored = { ...row, byContent: true, receivedAt: new Date(row?.receivedAt ?? '') };
  const other = receivedEventOf({ storeId: id });
  expect(await storeEvents(sql, [receivedEventOf(stored), other])).toEqual(['duplicate', 'stored']);
  await service.settled();
  expect((await events(id)).find((event) => event.id === row?.id)).toMatchObject({ status: 'done' });
});

test('a rechecked event with a valid signature and an unreadable body is failed', async () => {
  const { id, webhookToken } = await service.store(onfleet(wrongSecret));
  const body = '{"taskId": ';
  const signature = createHmac('sha512', Buffer.from(rightSecret, 'hex')).update(body).digest('hex');
  await fetch(`${service.url}/api/v1/hooks/job_started/${webhookToken}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-onfleet-signature': signature },
    body,
  });
  const [refused] = await events(id);
  expect(refused).toMatchObject({ status: 'refused' });
  await correctSecret(id);
  expect(await recheck(id, refused?.id ?? '')).toMatchObject({ status: 200, body: { status: 'failed' } });
  expect(await events(id)).toMatchObject([{ id: refused?.id, status: 'failed' }]);
});

test('rechecking a span processes the valid events; a forged one stays refused', async () => {
  const { id, webhookToken } = await service.store(onfleet(wrongSecret));
  for (let at = 0; at < 120; at++) {
    const body = { ...taskStarted, taskId: `t-${at}` };
    await service.hook('job_started', webhookToken, body, signatureOf(body));
  }
  await service.hook(
    'job_started',
    webhookToken,
    { ...taskStarted, taskId: 'forged' },
    signatureOf(taskStarted),
  );
  await correctSecret(id);
  const path = `/v1/stores/${id}/events/recheck`;
  expect(await service.admin('POST', path, { ...span, to: hour(-0.5) })).toMatchObject({
    body: { checked: 0, accepted: 0, next: null },
  });
  // A request ends after some seconds and returns where to continue, so a busy machine needs several.
  const total = { checked: 0, accepted: 0 };
  for (let after: unknown; after !== null;) {
    const { status, body } = await service.admin(
      'POST',
      path,
      after === undefined ? span : { ...span, after },
    );
    expect(status).toBe(200);
    total.checked += Number(body['checked']);
    total.accepted += Number(body['accepted']);
    after = body['next'];
  }
  expect(total).toEqual({ checked: 121, accepted: 120 });
  await service.settled();
  const [jobs] = await sql`select count(*)::int from delivery_jobs where store_id = ${id}`;
  expect(jobs).toEqual({ count: 120 });
  expect(await service.admin('GET', `/v1/stores/${id}/events?status=refused`)).toMatchObject({
    body: { events: [{ entity: 'job:forged' }] },
  });
});

test('an event whose address cannot be decrypted is counted as failed; the others of the span are rechecked', async () => {
  const { id, webhookToken } = await service.store(onfleet(wrongSecret));
  for (const taskId of ['a', 'b', 'c']) {
    const body = { ...taskStarted, taskId };
    await service.hook('job_started', webhookToken, body, signatureOf(body));
  }
  await correctSecret(id);
  const locked = (await events(id)).at(-1)?.id ?? '';
  const sealed = createSecretBox('cd'.repeat(32)).seal('https://x.test/', urlContext(id, locked));
  await sql`update events set headers = jsonb_set(headers, '{:url}', to_jsonb(${sealed}::text)) where id = ${locked}`;
  const path = `/v1/stores/${id}/events/recheck`;
  const outcome = { status: 200, body: { checked: 3, accepted: 2, failed: 1, next: null } };
  // A dry run leaves the events refused, so that the next run has the same outcome.
  expect(await service.admin('POST', `${path}?dryRun=true`, span)).toMatchObject(outcome);
  expect(await service.admin('POST', path, span)).toMatchObject(outcome);
  expect(await service.admin('GET', `/v1/stores/${id}/events?status=refused`)).toMatchObject({
    body: { events: [{ id: locked }] },
  });
  expect(await recheck(id, locked)).toMatchObject({ status: 503, body: { code: 'address_unreadable' } });
});

test('an event that the sender has meanwhile sent again is not processed twice', async () => {
  const { id, webhookToken } = await service.store(onfleet(wrongSecret));
  await service.hook('job_started', webhookToken, taskStarted, signatureOf(taskStarted));
  await correctSecret(id);
  // The token's row is cached for less than a second.
  await expect
    .poll(async () => {
      await service.hook('job_started', webhookToken, taskStarted, signatureOf(taskStarted));
      return (await events(id)).length;
    })
    .toBe(2);
  await service.settled();
  const refused = (await events(id)).find(({ status }) => status === 'refused');
  expect((await recheck(id, refused?.id ?? '')).body).toMatchObject({ status: 'ignored' });
  await service.settled();
  expect((await events(id)).map(({ status }) => status).toSorted()).toEqual(['done', 'ignored']);
});

test('an event of a store without a secret stays refused', async () => {
  const { id, webhookToken } = await service.store(onfleet(wrongSecret));
  await service.hook('job_started', webhookToken, taskStarted, signatureOf(taskStarted));
  await service.admin('PATCH', `/v1/stores/${id}`, {
    delivery: { credentials: { webhookSecret: null } },
  });
  const [refused] = await events(id);
  expect((await recheck(id, refused?.id ?? '')).body).toMatchObject({ status: 'refused' });
});

test('a signature that covers the address (Square) is verified with the address of the original request', async () => {
  const pos = (webhookSecret: string) => ({ kind: 'square', credentials: { webhookSecret } });
  const { id, webhookToken, webhookUrls } = await service.store({ pos: pos('wrong-key') });
  const body = {
    event_id: 'e-1',
    type: 'customer.updated',
    data: { object: { customer: { id: 'c-1', given_name: 'Ann', version: 1 } } },
  };
  const signature = createHmac('sha256', 'right-key')
    .update(`${webhookUrls['member_updated']}${JSON.stringify(body)}`)
    .digest('base64');
  await service.hook('member_updated', webhookToken, body, { 'x-square-hmacsha256-signature': signature });
  const [refused] = await events(id);
  expect(refused).toMatchObject({ status: 'refused' });
  const detail = await service.admin('GET', `/v1/stores/${id}/events/${refused?.id}`);
  const [row] = await sql<{ text: string }[]>`select events::text as text from events where store_id = ${id}`;
  expect(JSON.stringify(detail.body) + row?.text).not.toContain(webhookToken);
  await service.admin('PATCH', `/v1/stores/${id}`, { pos: pos('right-key') });
  expect((await recheck(id, refused?.id ?? '')).body).toMatchObject({ status: 'pending' });
  await service.settled();
  expect(await events(id)).toMatchObject([{ status: 'done' }]);
  expect(await sql`select headers ? ':url' as kept from inbox where store_id = ${id}`).toEqual([
    { kept: false },
  ]);
});

test('an event cannot be rechecked through another store or without the scope', async () => {
  const [store, otherStore] = [
    await service.store(onfleet(wrongSecret)),
    await service.store(onfleet(rightSecret)),
  ];
  await service.hook('job_started', store.webhookToken, taskStarted, signatureOf(taskStarted));
  const [refused] = await events(store.id);
  expect((await recheck(otherStore.id, refused?.id ?? '')).status).toBe(404);
  const answer = await fetch(`${service.url}/v1/stores/${store.id}/events/recheck`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await service.tokenWith('quests:read')}` },
  });
  expect(answer.status).toBe(403);
});
