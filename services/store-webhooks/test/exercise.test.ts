import { exercise } from '@platform/openapi-tests';
import { recordPlans } from '@platform/service-kit/testing';
import { afterAll, expect, test } from 'vitest';
import { hookEventNames, pascalCase, pathTemplateOf } from '../src/webhooks.ts';
import { startService } from './harness.ts';
import { startStandIn } from './simulate/stand-in.ts';
import { setUp } from './subject.ts';

const hooks = hookEventNames.map(pascalCase);

test('every operation responds as described in its OpenAPI document', async () => {
  await using standIn = await startStandIn();
  await using service = await startService({ variables: { SMTP_URL: 'smtp://127.0.0.1:9' } });
  const { url, settled } = service;
  const token = await service.tokenWith('stores:admin store-webhooks:subscriptions');
  const {
    storeId,
    paths = [],
    ...subject
  } = await setUp(
    { url, token, hmacSecret: '', waitFor: settled },
    { baseUrl: standIn.url, credentials: { apiKey: 'a' } },
    { notifications: { staff: { email: 'owner@example.test' }, customers: { enabled: true } } },
  );
  const { body: list } = await service.admin('GET', `/v1/stores/${storeId}/notifications`);
  const [notification] = list['notifications'] as unknown as { id: string }[];
  const faults = await exercise({
    url,
    ...subject,
    unreachable: hooks.flatMap((id) => [`receive${id} 403`, `receive${id} 400`, `check${id} 400`]),
    credentialsWithoutScope: { bearer: await service.tokenWith('quests:read') },
    paths: [...paths, `/v1/stores/${storeId}/notifications/${notification?.id}/resend`],
  });
  expect(faults).toEqual([]);
});

const service = await startService({ work: false });
afterAll(() => service[Symbol.asyncDispose]());

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  example?: unknown;
}

interface Operation {
  requestBody: { content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

const { paths, components } = service.document() as unknown as {
  paths: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema> };
};

const resolve = ({ $ref, ...schema }: Schema): Schema =>
  $ref === undefined ? schema : (components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});

const member = ['id', 'modified', 'email', 'firstName', 'lastName', 'phone', 'status', 'type'];
const job = ['id', 'orderId', 'driverId', 'status', 'estimatedArrival', 'driverLocation'];
const verification = ['service', 'transactionId', 'status', 'userId', 'updatedAt'];
const fields = {
  order_updated: ['id', 'orderNo', 'status', 'consumerId', 'memo', 'rewardName', 'publicKey', 'cart'],
  new_member: member,
  member_updated: member,
  job_assigned: job,
  job_started: job,
  job_arrived: job,
  job_completed: job,
  'identity-verification-updated': verification,
  'identity-verification-completed': verification,
  'payment-auth-completed': ['service', 'cres', 'transactionId'],
};

test.each(hookEventNames)(
  'the document describes the JSON body, the form and the status 429 of %s',
  (event) => {
    const { requestBody, responses } = paths[pathTemplateOf(event)]?.post ?? ({} as Operation);
    const body = resolve(requestBody.content['application/json']?.schema ?? {});
    const [firstSchema = {}] = body.anyOf?.map(resolve) ?? [];
    expect(Object.keys(firstSchema.properties ?? {})).toEqual(expect.arrayContaining(fields[event]));
    expect(firstSchema.example).toBeDefined();
    const form = resolve(requestBody.content['application/x-www-form-urlencoded']?.schema ?? {});
    expect(Object.keys(form.properties ?? {})).toEqual(
      event === 'payment-auth-completed' ? ['cres', 'CRes', 'threeDSSessionData'] : ['payload'],
    );
    expect(Object.keys(responses)).toContain('429');
  },
);

test('the cart and its items are described too', () => {
  const { cart } = components.schemas['OrderPayload']?.properties ?? {};
  expect(cart?.properties).toMatchObject({ subTotal: {}, total: {}, promoCode: {}, items: {} });
});

test('a body of any other shape is stored too', async () => {
  const { webhookToken } = await service.store();
  for (const body of ['[]', '7', '"text"', 'null', '{"id": {"not": "an id"}}'])
    expect([body, (await service.hook('order_updated', webhookToken, body)).status]).toEqual([body, 200]);
});

// lists.test.ts checks the plans of the lists of one store, with many rows.
test('stores, and the events, orders and payments of a store, are read in the order of an index, without a sequential scan', async () => {
  await using original = await startService({ work: false });
  await using plans = recordPlans(original.databaseUrl);
  const overrides = { database: plans.database };
  await using service = await startService({ work: false, databaseUrl: original.databaseUrl, overrides });
  const { id } = await service.store();
  for (const path of [
    '/v1/stores',
    `/v1/stores/${id}/events`,
    `/v1/stores/${id}/orders`,
    `/v1/stores/${id}/payments`,
  ])
    expect([path, await plans.faultsOf(() => service.admin('GET', path))]).toEqual([path, []]);
});
