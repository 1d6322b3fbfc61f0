import { call, type ServiceSetup, type TestServer } from '@platform/openapi-tests/setup';
import { hookEventNames, hookEvents, pascalCase, type HookEvent } from '../src/webhooks.ts';

/** The path of an event, with a provider of the store below if it needs one. */
const pathOf = (event: HookEvent): string => {
  if (!hookEvents[event].service) return event;
  return event.startsWith('payment') ? `${event}/threedsecureio` : `${event}/persona`;
};

interface Event {
  id: string;
  status: string;
}

const isFailed = ({ status }: Event): boolean => status === 'failed';

/**
 * Creates a store with records and with events of each status.
 * @param provider address and credentials of its providers
 * @param more additional fields of the store
 */
export const setUp = async (
  server: TestServer,
  provider: object = {},
  more: object = {},
): Promise<ServiceSetup & { storeId: string }> => {
  const shop = { name: 'Exercise', storeUrl: 'https://shop.example.test/' };
  const { body: store } = await call(server, 'POST', '/v1/stores', {
    ...shop,
    pos: { kind: 'blaze', ...provider },
    identity: [
      { kind: 'persona', ...provider },
      { kind: 'veriff', credentials: { webhookSecret: 'secret' } },
    ],
    payments: [{ kind: 'threedsecureio', ...provider }],
    ...more,
  });
  const { id, webhookToken } = store as { id: string; webhookToken: string };
  const hook = (event: string, body: object, token = webhookToken) =>
    call(server, 'POST', `/api/v1/hooks/${event}/${token}`, body);
  const verification = { transactionId: 't-1', status: 'APPROVED' };
  await hook('order_updated', { id: 'o-1', status: 'PENDING', cart: { items: [] } });
  await hook('job_assigned', { id: 'j-1', orderId: 'o-1' });
  await hook('member_updated', { id: 'm-1' });
  await hook('identity-verification-updated/persona', { service: 'persona', ...verification });
  // Without a signature, so it is refused and can be checked again.
  await hook('identity-verification-updated/veriff', { service: 'veriff', ...verification });
  await hook('order_updated', { status: 'HAS_NO_ID' });
  // A mapping can be tried only for a generic POS.
  const { body: mapped } = await call(server, 'POST', '/v1/stores', { ...shop, pos: { kind: 'generic' } });
  await hook('order_updated', { id: 'o-1', state: 'NEW' }, String(mapped['webhookToken']));
  const records = ['orders/o-1', 'delivery-jobs/j-1', 'verifications/t-1', 'members/m-1'].map(
    (path) => `/v1/stores/${id}/${path}`,
  );
  const exists = async (path: string) => (await call(server, 'GET', path)).response.ok;
  await server.waitFor('the events of a store are processed', async () =>
    (await Promise.all(records.map(exists))).every(Boolean),
  );
  const eventsOf = async (storeId: string) =>
    (await call(server, 'GET', `/v1/stores/${storeId}/events`)).body['events'] as Event[];
  await server.waitFor('an event has failed', async () => (await eventsOf(id)).some(isFailed));
  const events = await eventsOf(id);
  const [mappedEvent] = await eventsOf(String(mapped['id']));
  return {
    storeId: id,
    credentials: { bearer: server.token },
    paths: [
      ...records,
      `/v1/stores/${String(mapped['id'])}/events/${mappedEvent?.id}/dry-run`,
      // A replay of the failed event could keep it from being dismissed.
      ...events.map(
        (event) => `/v1/stores/${id}/events/${event.id}/${isFailed(event) ? 'dismiss' : 'replay'}`,
      ),
      ...events
        .filter(({ status }) => status === 'refused')
        .map((event) => `/v1/stores/${id}/events/${event.id}/recheck`),
      ...hookEventNames.map((event) => `/api/v1/hooks/${pathOf(event)}/${webhookToken}`),
    ],
    // The store accepts webhooks from any address and with any content.
    takesAnything: hookEventNames.map((event) => `receive${pascalCase(event)}`),
    // 409: no mail server is configured.
    unreachable: ['resendNotification success'],
  };
};
