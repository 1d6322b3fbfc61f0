import { demoEnv } from '@platform/service-kit/env';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { insertSparePart, spareParts } from './spare-parts/queries.ts';

/** Fixed, so that loading the demo data again changes nothing. */
const sparePartId = '0198c5a0-7e57-7000-8000-000000000001';

const { GATEWAY_URL, DEMO_ADMIN_TOKEN } = demoEnv();
// The demo data needs no Redis.
const env = { ...processEnv(), REDIS_URL: undefined };
const log = createLog('placeholder-service-demo', 'silent');
await using context = createContext(env, { log, metrics: createMetrics() });

const { sql } = context.database;
if ((await spareParts.find(sql, { spare_part_id: sparePartId }, false)) === undefined)
  await insertSparePart(sql, 'The first spare part', sparePartId);

const authorization = `-H 'Authorization: Bearer ${DEMO_ADMIN_TOKEN}'`;
const output = {
  demo: { 'placeholder-service': { sparePartId } },
  curls: [
    {
      title: 'A page of spare parts',
      command: `curl -s '${GATEWAY_URL}/v1/spare-parts?limit=10' ${authorization}`,
    },
    {
      title: 'A new spare part',
      command:
        `curl -s -X POST '${GATEWAY_URL}/v1/spare-parts' ${authorization} ` +
        `-H 'Content-Type: application/json' -d '{"name":"My first spare part"}'`,
    },
  ],
};
process.stdout.write(`${JSON.stringify(output)}\n`);
