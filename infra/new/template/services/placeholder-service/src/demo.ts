import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { demoEnv, processEnv } from './env.ts';
import { createWidget, findOrUndefined } from './widgets/use-cases.ts';

/** Fixed, so that loading the demo data again changes nothing. */
const widgetId = '0198c5a0-7e57-7000-8000-000000000001';

const { GATEWAY_URL, DEMO_ADMIN_TOKEN } = demoEnv();
// The demo data needs no Redis.
const env = { ...processEnv(), REDIS_URL: undefined };
const log = createLog('placeholder-service-demo', 'silent');
await using context = createContext(env, { log, metrics: createMetrics() });

if ((await findOrUndefined(context, widgetId)) === undefined) {
  await createWidget(context, { widgetId, name: 'The first widget' });
}

const authorization = `-H 'Authorization: Bearer ${DEMO_ADMIN_TOKEN}'`;
const output = {
  demo: { 'placeholder-service': { widgetId } },
  curls: [
    { title: 'A page of widgets', command: `curl -s '${GATEWAY_URL}/v1/widgets?limit=10' ${authorization}` },
    {
      title: 'A new widget',
      command:
        `curl -s -X POST '${GATEWAY_URL}/v1/widgets' ${authorization} ` +
        `-H 'Content-Type: application/json' -d '{"name":"My first widget"}'`,
    },
  ],
};
process.stdout.write(`${JSON.stringify(output)}\n`);
