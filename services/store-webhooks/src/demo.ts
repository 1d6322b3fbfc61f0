import { createHmac } from 'node:crypto';
import { hashPathToken } from '@platform/auth/path-tokens';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { eq } from 'drizzle-orm';
import { createContext } from './context.ts';
import { demoEnv, processEnv } from './env.ts';
import { stores } from './db/tables.ts';
import { demoOrder } from './providers/pos-payloads.ts';
import { StoreBody } from './stores/schema.ts';
import { createStore } from './stores/use-cases.ts';

const id = '01980000-0000-7000-8000-00000000d340';
const storeUrl = 'https://shop.example.test/';

const env = processEnv();
const { gatewayUrl } = demoEnv();
await using context = await createContext(
  { ...env, PUBLIC_URL: gatewayUrl },
  { log: createLog('demo', 'silent'), metrics: createMetrics() },
);

// Derived from the secret of this stack: the same on every start, and secret.
const token = createHmac('sha256', env.SECRETS_KEY).update('demo webhook token').digest('base64url');

if ((await context.database.orm.$count(stores, eq(stores.id, id))) === 0) {
  const input = StoreBody.parse({
    name: 'Demo shop',
    storeUrl,
    pos: { kind: 'blaze' },
    customerImportsEnabled: true,
    identity: [{ kind: 'persona' }, { kind: 'veriff' }],
    payments: [{ kind: 'threedsecureio' }],
  });
  await createStore(context, input, { id, token: { token, tokenHash: hashPathToken(token) } });
}
// The printed token must work even if it was rotated since the last start.
await context.database
  .sql`update webhook_tokens set grace_until = null where token_hash = ${hashPathToken(token)}`;

const printed = {
  demo: { store: { id, webhookToken: token, storeUrl } },
  curls: [
    {
      title: 'A webhook of the demo shop (store-webhooks)',
      command: `curl -sS -X POST '${gatewayUrl}/api/v1/hooks/order_updated/${token}' -H 'content-type: application/json' -d '${JSON.stringify(demoOrder)}'`,
    },
  ],
};
process.stdout.write(`${JSON.stringify(printed)}\n`);
