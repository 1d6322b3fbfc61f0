import { demoSubscription } from '@platform/outgoing-webhooks/demo';
import { demoEnv } from '@platform/service-kit/env';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { loadLists, replaceKey } from './demo/load.ts';
import { client, deliverables, projects } from './demo/projects.ts';
import { processEnv } from './env.ts';

const { GATEWAY_URL, DEMO_ADMIN_TOKEN } = demoEnv();
const log = createLog('verify-projects-demo', 'silent');
await using context = createContext(
  { ...processEnv(), REDIS_URL: undefined },
  { log, metrics: createMetrics() },
);

await loadLists(context.database);
await demoSubscription(context.database.sql, DEMO_ADMIN_TOKEN, 'projects');
const verifyApiKey = await replaceKey(context.database, {
  id: '0198c5a0-7e57-7100-8000-000000000001',
  name: 'demo',
  scopes: ['verify:read'],
  clients: null,
});
const verifyApiKeyNoScope = await replaceKey(context.database, {
  id: '0198c5a0-7e57-7100-8000-000000000002',
  name: 'demo without a scope',
  scopes: [],
  clients: null,
});
const verifyPartnerKey = await replaceKey(context.database, {
  id: '0198c5a0-7e57-7100-8000-000000000003',
  name: 'demo partner',
  scopes: ['verify:read'],
  clients: [client],
});

const read = (path: string, key = verifyApiKey) =>
  `curl -s -H 'X-API-Key: ${key}' '${GATEWAY_URL}/v1${path}'`;
const write = (method: string, path: string, body: object) =>
  `curl -s -X ${method} '${GATEWAY_URL}/v1${path}' -H 'Authorization: Bearer ${DEMO_ADMIN_TOKEN}' ` +
  `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
const [project] = projects;
const order = { name: 'Diplomas', client, status: 'active', source_language: 'et', target_languages: ['de'] };
const delivery = { status: 'delivered', file_url: 'https://files.example.test/1.pdf' };
const partner = { name: 'my partner', scopes: ['verify:read'], clients: [client] };
const output = {
  demo: { verifyApiKey, verifyApiKeyNoScope, verifyPartnerKey },
  curls: [
    { title: 'Two active projects', command: read('/projects?status=active&limit=2') },
    { title: 'Projects changed since', command: read('/projects?modified_after=2026-02-20&limit=2') },
    { title: 'Create a project of a client', command: write('POST', '/projects', order) },
    { title: 'The deliverables of a project', command: read(`/projects/${project?.id}/deliverables`) },
    {
      title: 'Mark a deliverable as delivered',
      command: write('PATCH', `/projects/${project?.id}/deliverables/${deliverables[0]?.id}`, delivery),
    },
    { title: 'A project with its deliverables by status', command: read(`/projects/${project?.id}`) },
    {
      title: 'Archive a project before it is deleted',
      command: write('PATCH', `/projects/${project?.id}`, { status: 'archived' }),
    },
    {
      title: 'The changed projects that a partner of one client sees',
      command: read('/projects?modified_after=2026-03-01', verifyPartnerKey),
    },
    { title: 'Create an API key for a partner', command: write('POST', '/api-keys', partner) },
  ],
};
process.stdout.write(`${JSON.stringify(output)}\n`);
