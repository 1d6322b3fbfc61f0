import { randomUUID } from 'node:crypto';
import type { Subject } from '@platform/openapi-tests/examination';
import { send } from '@platform/openapi-tests/send';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { waitFor } from './wait.ts';

/** A running service, or the gateway in front of all. */
export interface Place {
  url: string;
  /** An access token with every scope. */
  token: string;
  /** Secret of the wallet's callbacks. */
  hmacSecret: string;
}

type Arranged = Omit<Subject, 'url' | 'documentPath'>;

/** The cookies of the services are named as on any host but localhost. */
const HOST = 'service.example.test';
const PASSWORD = 'correct horse battery';

const call = async (
  { url, token }: Place,
  method: string,
  path: string,
  body?: object,
): Promise<{ body: Record<string, unknown>; response: Response }> => {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(body && { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
  return { body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {}, response };
};

const register = async ({ url }: Place) => {
  const email = `${randomUUID()}@example.test`;
  const { status, headers, body } = await send(url, {
    method: 'post',
    target: '/api/v1/auth/register',
    headers: { Host: HOST, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD, name: 'Ada' }),
  });
  if (status !== 201) throw new Error(`a registration was answered with ${status}: ${body}`);
  const cookies = (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]).join('; ');
  return { email, cookies, token: (JSON.parse(body) as { accessToken: string }).accessToken };
};

const taskManager = async (place: Place): Promise<Arranged> => {
  const ann = await register(place);
  // A refresh token works once and its second use ends the session, so refreshing needs another user.
  const ben = await register(place);
  const asBen = { ...place, token: ben.token };
  const { body: list } = await call(asBen, 'POST', '/api/v1/lists', { name: 'Exercise' });
  const path = `/api/v1/lists/${String(list['id'])}`;
  await call(asBen, 'PATCH', path, { members: { [ann.email]: { role: 'owner' } } });
  const { body: invitations } = await call(asBen, 'GET', `${path}/invitations`);
  const [code] = Object.values(invitations['codes'] as Record<string, string>);
  return {
    credentials: { bearer: ann.token, cookie: ann.token, operator: place.token },
    values: {
      Cookie: [ben.cookies],
      password: [PASSWORD],
      email: [ann.email],
      code: [code],
      list: [undefined],
      listId: [null],
      assigneeId: [null],
    },
  };
};

const questService = async (place: Place): Promise<Arranged> => {
  const questions = [
    {
      questionId: 'known',
      type: 'OPEN_TEXT',
      presentation: 'VERTICAL',
      titles: [{ languageCode: 'en-US', title: 'Why?' }],
    },
  ];
  // Several, because other operations replace some of the lists.
  const paths = [1, 2, 3, 4].map(async () => {
    const { body } = await call(place, 'POST', '/v1/quests', { title: 'With a draft' });
    const quest = `/v1/quests/${String(body['questId'])}`;
    await call(place, 'PUT', `${quest}/questions`, questions);
    await call(place, 'PUT', `${quest}/questions?draft=true`, questions);
    return [`${quest}/questions/known`, `${quest}/draft`];
  });
  return {
    credentials: { bearer: place.token },
    values: { orderNumber: [undefined], questionId: [undefined], alternativeId: [undefined] },
    paths: (await Promise.all(paths)).flat(),
  };
};

const verifyProjects = async (place: Place): Promise<Arranged> => {
  for (const code of ['en', 'de', 'fr'])
    await call(place, 'PUT', `/v1/languages/${code}`, { name: code, native_name: code, direction: 'ltr' });
  const { body } = await call(place, 'POST', '/v1/api-keys', { name: 'exercise', scopes: ['verify:read'] });
  return {
    credentials: { apiKey: String(body['key']), bearer: place.token },
    values: { code: ['en', 'de', 'fr'], language: ['de', 'fr'], source_language: ['en'], due_at: [null] },
  };
};

const consignments = async (place: Place): Promise<Arranged> => ({ credentials: { bearer: place.token } });

/** A reconciliation of one line that the ledger does not have, compared; resolves with its path. */
const reconcile = async (place: Place): Promise<string> => {
  const line = {
    transactionId: randomUUID(),
    playerId: 'nobody',
    operation: 'debit',
    amount: '1.00',
    currency: 'EUR',
    roundId: 'r',
    gameCode: 'dice-alpha',
    time: '2026-11-01T12:00:00.000Z',
  };
  const query = 'from=2026-11-01T00:00:00.000Z&to=2026-11-02T00:00:00.000Z';
  const response = await fetch(`${place.url}/v1/reconciliations?${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${place.token}`, 'Content-Type': 'application/x-ndjson' },
    body: `${JSON.stringify(line)}\n`,
  });
  const { reconciliationId } = (await response.json()) as { reconciliationId: string };
  const path = `/v1/reconciliations/${reconciliationId}`;
  await waitFor(
    'a statement is compared',
    async () => (await call(place, 'GET', path)).body['status'] === 'done',
  );
  return path;
};

const walletOperator = async (place: Place): Promise<Arranged> => {
  const [playerId, gameCode, roundId] = [`exercise-${randomUUID()}`, 'dice-alpha', randomUUID()];
  await call(place, 'POST', '/v1/games', { gameCode, name: 'Dice' });
  await call(place, 'POST', '/v1/players', { playerId, currency: 'EUR', countryCode: 'DE' });
  await call(place, 'POST', `/v1/players/${playerId}/deposits`, {
    transactionId: randomUUID(),
    amount: '100.00',
  });
  const signatures = createRequestSignatures({ secrets: { current: place.hmacSecret } });
  let timestamp = '';
  // The service accepts what moves no money with 200, too, so the round is played here.
  const sign = (target: string, body: string): string => {
    const signed = signatures.sign(target, body);
    ({ timestamp } = signed);
    return signed.signature;
  };
  const bet = JSON.stringify({
    requestId: randomUUID(),
    playerId,
    transactionId: randomUUID(),
    roundId,
    gameCode,
    amount: '1.00',
  });
  await fetch(`${place.url}/callback/debit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...signatures.headers('/callback/debit', bet) },
    body: bet,
  });
  // The session is there also when the game server does not answer yet.
  await call(place, 'POST', '/v1/launches', { playerId, gameCode });
  const { body } = await call(place, 'GET', `/v1/players/${playerId}/sessions`);
  const [session] = body['sessions'] as { sessionId: string }[];
  const adjustment = { transactionId: randomUUID(), amount: '1.00', reason: 'bonus', note: 'exercise' };
  await call(place, 'POST', `/v1/players/${playerId}/adjustments`, adjustment);
  // Both are done in the background.
  const round = `/v1/players/${playerId}/rounds/${roundId}`;
  await waitFor('a round is sealed', async () => (await call(place, 'GET', `${round}/evidence`)).response.ok);
  const reconciliation = await reconcile(place);
  const dryRun = await call(place, 'POST', `${reconciliation}/dry-runs`, { differences: [1] });
  const dryRunId = String(dryRun.body['dryRunId']);
  return {
    credentials: {
      bearer: place.token,
      signature: ({ target, body = '' }) => sign(target, body),
      timestamp: () => timestamp,
    },
    paths: [
      round,
      `/v1/games/${gameCode}`,
      `/v1/players/${playerId}/sessions/${session?.sessionId}`,
      `/v1/players/${playerId}/adjustments/${adjustment.transactionId}`,
      reconciliation,
      `${reconciliation}/dry-runs/${dryRunId}`,
    ],
    values: {
      playerId: [playerId, `new-${randomUUID()}`],
      roundId: [roundId],
      gameCode: [gameCode],
      currency: ['EUR'],
      amount: ['1.00'],
      differences: [[1]],
      dryRunId: [dryRunId],
      enabled: [true],
    },
    // Nobody approves what they made themselves.
    unreachable: ['approveDryRun success', 'approveAdjustment success'],
  };
};

const POS_EVENTS = ['order_updated', 'new_member', 'member_updated'];
const JOB_EVENTS = ['job_assigned', 'job_started', 'job_arrived', 'job_completed'];
const IDENTITY_EVENTS = ['identity-verification-updated', 'identity-verification-completed'];

const storeWebhooks = async (place: Place): Promise<Arranged> => {
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
  const exists = async (path: string) => (await call(place, 'GET', path)).response.ok;
  await waitFor('the events of a store are processed', async () =>
    (await Promise.all(records.map(exists))).every(Boolean),
  );
  const eventsOf = async () => {
    const { body: page } = await call(place, 'GET', `/v1/stores/${id}/events`);
    return page['events'] as { id: string; status: string }[];
  };
  const isFailed = ({ status }: { status: string }) => status === 'failed';
  await waitFor('an event has failed', async () => (await eventsOf()).some(isFailed));
  const events = await eventsOf();
  return {
    credentials: { bearer: place.token },
    paths: [
      ...records,
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
    // 409: no mail server is configured.
    unreachable: ['resendNotification success'],
  };
};

const arrangements: Record<string, (place: Place) => Promise<Arranged>> = {
  'task-manager': taskManager,
  'quest-service': questService,
  'store-webhooks': storeWebhooks,
  'wallet-operator': walletOperator,
  'verify-projects': verifyProjects,
  consignments,
};

/** Creates in a service what its operations need, and says how they are called. A service that is not listed needs a token only. */
export const arrange = async (service: string, place: Place): Promise<Arranged> =>
  (await arrangements[service]?.(place)) ?? { credentials: { bearer: place.token } };
