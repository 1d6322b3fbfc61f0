import { createHmac } from 'node:crypto';
import { hashPathToken } from '@platform/auth/path-tokens';
import { demoSubscription } from '@platform/outgoing-webhooks/demo';
import { demoEnv } from '@platform/service-kit/env';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { eq, sql } from 'drizzle-orm';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { v7 } from 'uuid';
import { stores, users } from './db/tables.ts';
import { keepOutcome, registerPayment } from './payments/use-cases.ts';
import { applyChanges } from './processing/event-types.ts';
import { demoOrder, member, order, toOrderRecord } from './providers/pos-payloads.ts';
import type { Change } from './records/change.ts';
import { StoreBody } from './stores/schema.ts';
import { createStore } from './stores/use-cases.ts';

const id = '01980000-0000-7000-8000-00000000d340';
const demoUserId = '01980000-0000-7000-8000-00000000d343';
/** The examples in the API documents delete these two. */
const erasedMember = 'demo-member-2';
const erasedUserId = '01980000-0000-7000-8000-00000000d344';
const deletedUserId = '01980000-0000-7000-8000-00000000d345';
const storeUrl = 'https://shop.example.test/';

const env = processEnv();
const { GATEWAY_URL, DEMO_ADMIN_TOKEN } = demoEnv();
await using context = await createContext(
  { ...env, PUBLIC_URL: GATEWAY_URL },
  { log: createLog('demo', 'silent'), metrics: createMetrics() },
);
await demoSubscription(context.database.sql, DEMO_ADMIN_TOKEN, 'orders');

// Derived from the secret of this stack: the same on every start, and secret.
const token = createHmac('sha256', env.SECRETS_KEY).update('demo webhook token').digest('base64url');

/** Adds a verified customer with a payment and a delivery, and two more customers. */
const addRecords = async (): Promise<void> => {
  const { database, now } = context;
  const consumerUserId = demoOrder.consumerId;
  const annProfile = { email: 'ann@example.test', firstName: 'Ann', lastName: 'Li' };
  const boProfile = { email: 'bo@example.test', firstName: 'Bo', lastName: 'Lund' };
  const cleoProfile = { email: 'cleo@example.test', firstName: 'Cleo', lastName: 'Roy' };
  const customers = [
    { memberId: consumerUserId, userId: demoUserId, profile: annProfile },
    { memberId: erasedMember, userId: erasedUserId, profile: boProfile },
    { memberId: 'demo-member-3', userId: deletedUserId, profile: cleoProfile },
  ];
  const delivered = { ...demoOrder, id: 'demo-order-2', orderNo: '1000', status: 'COMPLETED' };
  const changes: Change[] = [
    ...customers.map(({ memberId, profile }): Change => ({
      kind: 'member',
      member: member.parse({ id: memberId, ...profile, status: 'ACTIVE' }),
      isNew: true,
      importsUnknown: false,
    })),
    { kind: 'order', order: toOrderRecord(order.parse(delivered), 'EUR') },
    {
      kind: 'job',
      stage: 'completed',
      job: {
        id: 'demo-job-1',
        orderId: delivered.id,
        status: 'DELIVERED',
        driverId: 'demo-driver-1',
        driver: { name: 'Kim', phone: '+1 555 0100' },
        estimatedArrival: null,
        at: null,
      },
    },
    {
      kind: 'verification',
      service: 'persona',
      completed: true,
      verification: {
        transactionId: 'demo-check-1',
        status: 'approved',
        userId: consumerUserId,
        version: null,
      },
    },
  ];
  const updatedAt = now().toISOString();
  const applied = changes.map((change) => ({ storeId: id, eventId: v7(), updatedAt, change }));
  await database.sql.begin((tx) => applyChanges(tx, applied, () => false));
  const challenge = 'demo-challenge-1';
  const payment = await registerPayment(context, {
    storeId: id,
    service: 'threedsecureio',
    transactionId: 'demo-payment-1',
    orderId: demoOrder.id,
    threeDSServerTransId: challenge,
  });
  const outcome = { success: true, cavv: 'AAABBEg0VhI0VniQEjRWAAAAAAA=', eci: '05' } as const;
  await keepOutcome(context, payment, challenge, outcome);
  const accounts = customers.map(({ memberId, userId, profile }) => ({
    storeId: id,
    id: userId,
    consumerUserId: memberId,
    ...profile,
    createdAt: sql`now()`,
  }));
  await database.orm.insert(users).values(accounts);
};

if ((await context.database.orm.$count(stores, eq(stores.id, id))) === 0) {
  const input = StoreBody.parse({
    name: 'Demo shop',
    storeUrl,
    currency: 'EUR',
    pos: { kind: 'blaze' },
    customerImportsEnabled: true,
    identity: [{ kind: 'persona' }, { kind: 'veriff' }],
    payments: [{ kind: 'threedsecureio' }],
    notifications: { customers: { enabled: true } },
  });
  await createStore(context, input, { id, token: { token, tokenHash: hashPathToken(token) } });
  await addRecords();
}
// The printed token must still work after a rotation since the last start.
await context.database
  .sql`update webhook_tokens set grace_until = null where token_hash = ${hashPathToken(token)}`;

const authorization = `-H 'Authorization: Bearer ${DEMO_ADMIN_TOKEN}'`;
const demoOutput = {
  demo: { store: { id, webhookToken: token, storeUrl } },
  curls: [
    {
      title: 'Send a webhook of the demo shop; its customer gets a mail (store-webhooks)',
      command: `curl -sS -X POST '${GATEWAY_URL}/api/v1/hooks/order_updated/${token}' -H 'content-type: application/json' -d '${JSON.stringify(demoOrder)}'`,
    },
    {
      title: 'Preview the mail that customers of the shop get for another status',
      command: `curl -sS -X POST '${GATEWAY_URL}/v1/stores/${id}/notifications/preview' ${authorization} -H 'content-type: application/json' -d '{"audience":"customer","kind":"order","change":"READY","orderNo":"1001"}'`,
    },
    {
      title: 'Show where the order of a customer is',
      command: `curl -sS '${GATEWAY_URL}/v1/stores/${id}/delivery-jobs?orderId=demo-order-2' ${authorization}`,
    },
  ],
};
process.stdout.write(`${JSON.stringify(demoOutput)}\n`);
