import { waitFor } from '../wait.ts';
import { call, type Arranged, type Place } from './place.ts';

const POS_EVENTS = ['order_updated', 'new_member', 'member_updated'];
const JOB_EVENTS = ['job_assigned', 'job_started', 'job_arrived', 'job_completed'];
const IDENTITY_EVENTS = ['identity-verification-updated', 'identity-verification-completed'];
const EVENTS = [...POS_EVENTS, ...JOB_EVENTS, ...IDENTITY_EVENTS, 'payment-auth-completed'];

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A store with records and with events of each status. */
export const storeWebhooks = async (place: Place): Promise<Arranged> => {
  const { body: store } = await call(place, 'POST', '/v1/stores', {
    name: 'Exercise',
    storeUrl: 'https://shop.example.test/',
    pos: { kind: 'blaze' },
    identity: [{ kind: 'persona' }, { kind: 'veriff', credentials: { webhookSecret: 'secret' } }],
    payments: [{ kind: 'threedsecureio' }],
  });
  const { id, webhookToken } = store as { id: string; webhookToken: string };
  const hook = (event: string, body: object) =>
    call(place, 'POST', `/api/v1/hooks/${event}/${webhookToken}`, body);
  const verification = { transactionId: 't-1', status: 'APPROVED' };
  await hook('order_updated', { id: 'o-1', status: 'PENDING', cart: { items: [] } });
  await hook('job_assigned', { id: 'j-1', orderId: 'o-1' });
  await hook('member_updated', { id: 'm-1' });
  await hook('identity-verification-updated/persona', { service: 'persona', ...verification });
  // Without a signature, so it is refused and can be checked again.
  await hook('identity-verification-updated/veriff', { service: 'veriff', ...verification });
  await hook('order_updated', { status: 'HAS_NO_ID' });
  const records = ['orders/o-1', 'delivery-jobs/j-1', 'verifications/t-1', 'members/m-1'].map(
    (path) => `/v1/stores/${id}/${path}`,
  );
  // Only of a generic POS a mapping is tried.
  const { body: mapped } = await call(place, 'POST', '/v1/stores', {
    name: 'With a mapping',
    storeUrl: 'https://shop.example.test/',
    pos: { kind: 'generic' },
  });
  await call(place, 'POST', `/api/v1/hooks/order_updated/${String(mapped['webhookToken'])}`, {
    id: 'o-1',
    state: 'NEW',
  });
  const exists = async (path: string) => (await call(place, 'GET', path)).response.ok;
  await waitFor('the events of a store are processed', async () =>
    (await Promise.all(records.map(exists))).every(Boolean),
  );
  const eventsOf = async (storeId = id) => {
    const { body: page } = await call(place, 'GET', `/v1/stores/${storeId}/events`);
    return page['events'] as { id: string; status: string }[];
  };
  const isFailed = ({ status }: { status: string }) => status === 'failed';
  await waitFor('an event has failed', async () => (await eventsOf()).some(isFailed));
  const events = await eventsOf();
  const [mappedEvent] = await eventsOf(String(mapped['id']));
  return {
    credentials: { bearer: place.token },
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
      ...[...POS_EVENTS, ...JOB_EVENTS].map((event) => `/api/v1/hooks/${event}/${webhookToken}`),
      ...IDENTITY_EVENTS.map((event) => `/api/v1/hooks/${event}/persona/${webhookToken}`),
      `/api/v1/hooks/payment-auth-completed/threedsecureio/${webhookToken}`,
    ],
    takesAnything: EVENTS.map((event) => `receive${event.split(/[-_]/).map(capitalised).join('')}`),
    // 409: no mail server is configured.
    unreachable: ['resendNotification success'],
  };
};
