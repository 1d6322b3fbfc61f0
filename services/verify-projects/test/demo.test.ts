import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import request from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const run = promisify(execFile);

interface Told {
  demo: { verifyApiKey: string; verifyApiKeyNoScope: string; verifyPartnerKey: string };
  curls: { title: string; command: string }[];
}

const token = `a.${Buffer.from('{"sub":"ann"}').toString('base64url')}.c`;

/** Runs the demo as `start` does. */
const demo = async (): Promise<Told> => {
  const env = { ...service.variables, GATEWAY_URL: 'http://127.0.0.1:8080', DEMO_ADMIN_TOKEN: token };
  const { stdout } = await run(process.execPath, ['src/demo.ts'], {
    cwd: new URL('..', import.meta.url).pathname,
    env,
  });
  return JSON.parse(stdout) as Told;
};

const ask = (path: string, key: string) => request(service.app).get(`/v1${path}`).set('X-API-Key', key);

test('the demo can be loaded repeatedly; only the keys of the last load work', async () => {
  const { demo: first } = await demo();
  const { body: before } = await ask('/projects?limit=200', first.verifyApiKey).expect(200);
  expect(before.projects).toHaveLength(200);
  expect(before.page.has_more).toBe(false);
  const { body: languages } = await ask('/languages', first.verifyApiKey).expect(200);
  expect(languages.page.limit).toBe(40);
  const [project] = before.projects as { id: string; target_languages: string[] }[];
  const { body: delivered } = await ask(`/projects/${project?.id}/deliverables`, first.verifyApiKey).expect(
    200,
  );
  expect(delivered.deliverables.map(({ language }: { language: string }) => language)).toEqual(
    project?.target_languages,
  );
  await ask('/projects', first.verifyApiKeyNoScope).expect(403);
  const { body: partners } = await ask('/projects?limit=200', first.verifyPartnerKey).expect(200);
  expect(partners.projects).toHaveLength(40);
  expect(partners.projects[0].client).toBe('University of Tartu');

  await service.admin.patch(`/projects/${project?.id}`, { name: 'Changed by hand' }).expect(200);
  const { demo: second, curls } = await demo();
  const { body: after } = await ask('/projects?limit=200', second.verifyApiKey).expect(200);
  expect(after.projects).toHaveLength(200);
  expect(after.projects.at(-1)).toMatchObject({ id: project?.id, name: 'Changed by hand' });
  // A new process knows only the new keys.
  const { app } = await service.startInstance();
  await request(app).get('/v1/projects').set('X-API-Key', first.verifyApiKey).expect(401);
  await ask('/projects', second.verifyApiKeyNoScope).expect(403);
  for (const { command } of curls) expect(command).toContain('http://127.0.0.1:8080/v1/');
  expect(curls[0]?.command).toContain(second.verifyApiKey);
});
