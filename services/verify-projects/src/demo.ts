import { demoEnv } from '@platform/service-kit/env';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { loadLists, replaceKey } from './demo/load.ts';
import { projects } from './demo/projects.ts';
import { processEnv } from './env.ts';

const { GATEWAY_URL, DEMO_ADMIN_TOKEN } = demoEnv();
const log = createLog('verify-projects-demo', 'silent');
await using context = createContext(
  { ...processEnv(), REDIS_URL: undefined },
  { log, metrics: createMetrics() },
);

await loadLists(context.database);
const verifyApiKey = await replaceKey(context.database, {
  id: '0198c5a0-7e57-7100-8000-000000000001',
  name: 'demo',
  scopes: ['verify:read'],
});
const verifyApiKeyNoScope = await replaceKey(context.database, {
  id: '0198c5a0-7e57-7100-8000-000000000002',
  name: 'demo without a scope',
  scopes: [],
});

const read = (path: string) => `curl -s -H 'X-API-Key: ${verifyApiKey}' '${GATEWAY_URL}/v1${path}'`;
const [project] = projects;
const printed = {
  demo: { verifyApiKey, verifyApiKeyNoScope },
  curls: [
    { title: 'Two active projects', command: read('/projects?status=active&limit=2') },
    { title: 'Projects changed since', command: read('/projects?modified_after=2026-02-20&limit=2') },
    { title: 'What a project has to deliver', command: read(`/projects/${project?.id}/deliverables`) },
    {
      title: 'A new API key',
      command:
        `curl -s -X POST '${GATEWAY_URL}/v1/api-keys' -H 'Authorization: Bearer ${DEMO_ADMIN_TOKEN}' ` +
        `-H 'Content-Type: application/json' -d '{"name":"my client","scopes":["verify:read"]}'`,
    },
  ],
};
process.stdout.write(`${JSON.stringify(printed)}\n`);
