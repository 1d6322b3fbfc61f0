import { exercise } from '@platform/openapi-tests';
import { expect, test } from 'vitest';
import { hookEventNames, pascalOf } from '../src/webhooks.ts';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';

const posEvents = ['order_updated', 'new_member', 'member_updated'];
const jobs = ['job_assigned', 'job_started', 'job_arrived', 'job_completed'];
const identity = ['identity-verification-updated', 'identity-verification-completed'];
const hooks = hookEventNames.map(pascalOf);

test('every operation answers as its OpenAPI document describes', async () => {
  await using standIn = await startStandIn();
  await using service = await startService({ variables: { SMTP_URL: 'smtp://127.0.0.1:9' } });
  const { id, webhookToken } = await service.store({
    pos: { kind: 'blaze', baseUrl: standIn.url, credentials: { apiKey: 'a', authorization: 'b' } },
    identity: [
      { kind: 'persona', baseUrl: standIn.url, credentials: { apiKey: 'a' } },
      { kind: 'veriff', credentials: { webhookSecret: 'secret' } },
    ],
    payments: [{ kind: 'threedsecureio', baseUrl: standIn.url, credentials: { apiKey: 'a' } }],
    notifications: { staff: { email: 'owner@example.test' }, customers: { enabled: true } },
  });
  const verification = { service: 'persona', transactionId: 't-1', status: 'APPROVED' };
  await service.hook('order_updated', webhookToken, { id: 'o-1', status: 'PENDING', cart: { items: [] } });
  await service.hook('job_assigned', webhookToken, { id: 'j-1', orderId: 'o-1' });
  await service.hook('identity-verification-updated/persona', webhookToken, verification);
  await service.hook('member_updated', webhookToken, { id: 'm-1' });
  await service.hook('identity-verification-updated/veriff', webhookToken, {
    ...verification,
    service: 'veriff',
  });
  await service.hook('order_updated', webhookToken, { status: 'HAS_NO_ID' });
  // Only of a generic POS a mapping is tried.
  const mapped = await service.store({ pos: { kind: 'generic' } });
  await service.hook('order_updated', mapped.webhookToken, { id: 'o-1', state: 'NEW' });
  await service.settled();
  const { body: ofMapped } = await service.admin('GET', `/v1/stores/${mapped.id}/events`);
  const [mappedEvent] = ofMapped['events'] as unknown as { id: string }[];
  const { body } = await service.admin('GET', `/v1/stores/${id}/events`);
  const events = body['events'] as unknown as { id: string; status: string }[];
  const failed = events.find(({ status }) => status === 'failed')?.id;
  expect(failed).toBeDefined();
  const eventIds = events.map((event) => event.id).filter((eventId) => eventId !== failed);
  const refused = events.find(({ status }) => status === 'refused')?.id;
  expect(refused).toBeDefined();
  const { body: list } = await service.admin('GET', `/v1/stores/${id}/notifications`);
  const [notification] = list['notifications'] as unknown as { id: string }[];
  const faults = await exercise({
    url: service.url,
    credentials: { bearer: await service.tokenWith('stores:admin store-webhooks:subscriptions') },
    // The store takes webhooks from anywhere, and refuses none for its content.
    takesAnything: hooks.map((event) => `receive${event}`),
    unreachable: hooks.flatMap((id) => [`receive${id} 403`, `receive${id} 400`, `check${id} 400`]),
    credentialsWithoutScope: { bearer: await service.tokenWith('quests:read') },
    paths: [
      ...['orders/o-1', 'delivery-jobs/j-1', 'verifications/t-1', 'members/m-1'].map(
        (path) => `/v1/stores/${id}/${path}`,
      ),
      `/v1/stores/${id}/events/${refused}/recheck`,
      `/v1/stores/${id}/events/${failed}/dismiss`,
      `/v1/stores/${mapped.id}/events/${mappedEvent?.id}/dry-run`,
      `/v1/stores/${id}/notifications/${notification?.id}/resend`,
      ...eventIds.map((eventId) => `/v1/stores/${id}/events/${eventId}/replay`),
      ...[...posEvents, ...jobs].map((event) => `/api/v1/hooks/${event}/${webhookToken}`),
      ...identity.map((event) => `/api/v1/hooks/${event}/persona/${webhookToken}`),
      `/api/v1/hooks/payment-auth-completed/threedsecureio/${webhookToken}`,
    ],
  });
  expect(faults).toEqual([]);
});
