import { createHmac } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import * as doordash from './fixtures/doordash.ts';
import * as onfleet from './fixtures/onfleet.ts';
import * as posDelivery from './fixtures/pos-delivery.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const get = async (path: string) => (await service.admin('GET', `/v1/stores/${path}`)).body;

test('the delivery payload of the contract is stored as a job', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('job_assigned', webhookToken, posDelivery.job);
  await service.settled();
  const { estimatedArrival: _, ...job } = posDelivery.job;
  expect(await get(`${id}/delivery-jobs/job-1`)).toMatchObject({
    ...job,
    stage: 'assigned',
    estimatedArrival: '2023-11-14T22:23:20.000Z',
  });
});

test('onfleet: the trigger in the body sets the stage; an event with a wrong signature is refused and does not block the valid one', async () => {
  const secret = 'a1b2c3d4';
  const { id, webhookToken } = await service.store({
    delivery: { kind: 'onfleet', credentials: { webhookSecret: secret } },
  });
  const body = JSON.stringify(onfleet.taskStarted);
  const validSignature = createHmac('sha512', Buffer.from(secret, 'hex')).update(body).digest('hex');
  for (const signature of ['00', validSignature])
    expect(
      (await service.hook('job_assigned', webhookToken, body, { 'x-onfleet-signature': signature })).status,
    ).toBe(200);
  expect((await service.hook('job_assigned', webhookToken, body)).status).toBe(200);
  await service.settled();
  expect(await get(`${id}/delivery-jobs/${encodeURIComponent(onfleet.taskStarted.taskId)}`)).toMatchObject({
    stage: 'started',
    status: 'ACTIVE',
    orderId: 'order-1',
    driverId: onfleet.taskStarted.workerId,
    driverLocation: { lat: 37.77, lng: -122.41 },
    startedAt: '2021-02-10T20:00:00.123Z',
    estimatedArrival: '2021-02-10T21:00:00.000Z',
  });
  const { events } = await get(`${id}/events?status=refused`);
  expect(events).toHaveLength(1);
  const [{ id: eventId }] = events as unknown as [{ id: string }];
  expect(await service.admin('POST', `/v1/stores/${id}/events/${eventId}/replay`)).toMatchObject({
    status: 409,
    body: { code: 'event_refused' },
  });
});

test('onfleet: a failed task ends the job with its time and notifies customer and shop', async () => {
  const { id, webhookToken } = await service.store({ delivery: { kind: 'onfleet' } });
  await service.hook('job_completed', webhookToken, onfleet.taskFailed);
  await service.hook('job_started', webhookToken, onfleet.taskStarted);
  await service.settled();
  expect(await get(`${id}/delivery-jobs/${onfleet.taskFailed.taskId}`)).toMatchObject({
    stage: 'failed',
    status: 'FAILED',
    orderId: 'order-1',
    startedAt: '2021-02-10T20:00:00.123Z',
    endedAt: '2021-02-10T20:46:40.000Z',
    completedAt: null,
  });
  expect((await get(`${id}/notifications`))['notifications']).toHaveLength(2);
});

test('doordash: the event name in the body sets the stage, and an event without a stage is ignored', async () => {
  const { id, webhookToken } = await service.store({ delivery: { kind: 'doordash' } });
  await service.hook('job_assigned', webhookToken, doordash.pickedUp);
  await service.hook('job_assigned', webhookToken, { ...doordash.pickedUp, event_name: 'DELIVERY_BATCHED' });
  await service.settled();
  expect(await get(`${id}/delivery-jobs/D-1763`)).toMatchObject({
    stage: 'started',
    status: 'picked_up',
    orderId: 'order-1',
    driverId: '1232142',
    startedAt: '2024-03-15T18:05:00.000Z',
    estimatedArrival: '2024-03-15T18:30:00.000Z',
    driverLocation: { lat: 37.77, lng: -122.42 },
  });
  expect((await get(`${id}/events`))['events']).toMatchObject([{ status: 'ignored' }, { status: 'done' }]);
});

test('doordash: the published sample is stored with the time of the event and the id of the delivery as order', async () => {
  const { id, webhookToken } = await service.store({ delivery: { kind: 'doordash' } });
  await service.hook('job_assigned', webhookToken, doordash.droppedOff);
  await service.settled();
  expect(await get(`${id}/delivery-jobs/D-1763`)).toMatchObject({
    stage: 'completed',
    status: 'DASHER_DROPPED_OFF',
    orderId: 'D-1763',
    completedAt: '2024-03-15T18:35:22.791Z',
  });
});

test('doordash: a cancelled delivery ends the job', async () => {
  const { id, webhookToken } = await service.store({ delivery: { kind: 'doordash' } });
  await service.hook('job_assigned', webhookToken, doordash.cancelled);
  await service.settled();
  expect(await get(`${id}/delivery-jobs/D-1764`)).toMatchObject({
    stage: 'cancelled',
    status: 'DELIVERY_CANCELLED',
    endedAt: '2024-03-15T18:40:00.000Z',
  });
  const { notifications } = await get(`${id}/notifications`);
  expect(JSON.stringify(notifications)).toContain('was cancelled');
});

const endings = [
  ['a delivery that was completed', doordash.droppedOff, 'was delivered', doordash.cancelled],
  ['a delivery that was cancelled', doordash.cancelled, 'was cancelled', doordash.droppedOff],
] as const;

test.each(endings)(
  'the stage of %s stays when another final stage arrives later, which is recorded and notifies nobody',
  async (_name, first, step, second) => {
    const { id, webhookToken } = await service.store({ delivery: { kind: 'doordash' } });
    for (const event of [first, second])
      await service.hook('job_assigned', webhookToken, { ...event, external_delivery_id: 'D-9' });
    await service.settled();
    const stages = { DASHER_DROPPED_OFF: 'completed', DELIVERY_CANCELLED: 'cancelled' };
    const stageOf = ({ event_name: name }: typeof first) => stages[name as keyof typeof stages];
    const job = await get(`${id}/delivery-jobs/D-9`);
    expect(job).toMatchObject({
      stage: stageOf(first),
      status: first.event_name,
      completedAt: '2024-03-15T18:35:22.791Z',
      endedAt: '2024-03-15T18:40:00.000Z',
      laterStage: stageOf(second),
      laterStageAt: new Date(second.created_at).toISOString(),
    });
    const { notifications } = await get(`${id}/notifications`);
    expect(
      (notifications as unknown as { subject: string }[]).map(({ subject }) => subject).toSorted(),
    ).toEqual([`A delivery ${step}`, `Your order ${step}`]);
    const span = { from: '2020-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', status: 'done' };
    await service.admin('POST', `/v1/stores/${id}/events/replay`, span);
    await service.settled();
    expect(await get(`${id}/delivery-jobs/D-9`)).toEqual(job);
  },
);
