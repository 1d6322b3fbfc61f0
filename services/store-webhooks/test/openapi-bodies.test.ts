import { afterAll, expect, test } from 'vitest';
import { hookEventNames, templateOf } from '../src/webhooks.ts';
import { startService } from './harness.ts';

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

test.each(hookEventNames)('the document names the fields, forms and limits of %s', (event) => {
  const { requestBody, responses } = paths[templateOf(event)]?.post ?? ({} as Operation);
  const body = resolve(requestBody.content['application/json']?.schema ?? {});
  const [given = {}] = body.anyOf?.map(resolve) ?? [];
  expect(Object.keys(given.properties ?? {})).toEqual(expect.arrayContaining(fields[event]));
  expect(given.example).toBeDefined();
  const form = resolve(requestBody.content['application/x-www-form-urlencoded']?.schema ?? {});
  expect(Object.keys(form.properties ?? {})).toEqual(
    event === 'payment-auth-completed' ? ['cres', 'CRes', 'threeDSSessionData'] : ['payload'],
  );
  expect(Object.keys(responses)).toContain('429');
});

test('the cart and its items are described too', () => {
  const { cart } = components.schemas['OrderPayload']?.properties ?? {};
  expect(cart?.properties).toMatchObject({ subTotal: {}, total: {}, promoCode: {}, items: {} });
});

test('a body of any other shape is stored too', async () => {
  const { webhookToken } = await service.store();
  for (const body of ['[]', '7', '"text"', 'null', '{"id": {"not": "an id"}}'])
    expect([body, (await service.hook('order_updated', webhookToken, body)).status]).toEqual([body, 200]);
});
