import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '@platform/service-list';
import { testLimits } from '@platform/local/test-limits';
import { describe, expect, test, vi } from 'vitest';
import { demoIds, addExamples, signCallbacks, type Document } from '../src/site/fill-in.ts';
import { hasBrowser, gateway } from './browser.ts';
import { demo } from './stack.ts';

interface FullDocument extends Document {
  servers: { url: string }[];
  security?: object[];
}

const documentOf = (name: string): FullDocument =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../services', name, 'openapi.json'), 'utf8'),
  ) as FullDocument;

const json = async <T>(path: string, init?: RequestInit): Promise<T> =>
  (await (await fetch(gateway + path, init)).json()) as T;

/** Operations that are not called. */
const excluded = [
  // The test stack has no game server.
  'POST /v1/launches',
  'GET /v1/currencies',
  // Their ids contain the creation time, so the demo data cannot have fixed ones.
  'GET /v1/launches/{launchId}',
  'GET /v1/players/{playerId}/sessions/{sessionId}',
  'GET /v1/stores/{storeId}/events/{eventId}',
  'POST /v1/stores/{storeId}/events/{eventId}/replay',
  'POST /v1/stores/{storeId}/events/{eventId}/recheck',
  'POST /v1/stores/{storeId}/events/{eventId}/dismiss',
  'POST /v1/stores/{storeId}/events/{eventId}/dry-run',
  // The secret of an invitation depends on the keys of the service. No demo store has a POS with a mapping.
  'POST /lists/join',
  'POST /v1/stores/{storeId}/events/dry-run',
  // Without a mail server there are no codes from mails.
  'POST /auth/password/reset',
  'POST /auth/password/reset/confirm',
  'POST /auth/email',
  'POST /auth/email/verification',
  'POST /auth/email/verify',
  'POST /v1/stores/{storeId}/notifications/{notificationId}/resend',
  // They need a cookie, or end the session that the other requests need.
  'POST /auth/refresh',
  'GET /auth/logout',
  'POST /auth/me/delete',
];
/** Operations that need the token of an operator. */
const operatorPaths = /\/auth\/(?:admin|login-waits)\//;

/** The body for an example; a text, such as CSV, is sent unchanged. */
const textOf = (example: unknown): string =>
  typeof example === 'string' ? example : JSON.stringify(example);

/** The first request that the reference would send, for each operation with complete examples. */
const requests = (document: FullDocument, base: string): { title: string; request: () => Request }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody, servers = [] }]) => {
      const pathParameters = parameters.filter((parameter) => parameter.in === 'path');
      const [content] = Object.entries(requestBody?.content ?? {});
      if (method === 'delete') return [];
      const filledPath = pathParameters.reduce(
        (text, { name, example }) => text.replace(`{${name}}`, String(example)),
        path,
      );
      const query = new URLSearchParams(
        parameters.flatMap(({ name, in: location, example }) =>
          location === 'query' && typeof example === 'string' ? [[name, example]] : [],
        ),
      );
      const request = () =>
        new Request(`${gateway}${servers[0]?.url ?? base}${filledPath}${query.size > 0 ? `?${query}` : ''}`, {
          method: method.toUpperCase(),
          ...(content && {
            headers: { 'Content-Type': content[0] },
            body: textOf(content[1].example),
          }),
        });
      const title = `${method.toUpperCase()} ${path}`;
      return excluded.includes(title) || operatorPaths.test(title) ? [] : [{ title, request }];
    }),
  );

describe.runIf(hasBrowser)('the example requests of the reference with demo data', () => {
  test.each(services)('of $name succeed', async ({ name }) => {
    if (demo === null) throw new Error('there is no demo');
    const { accessToken, apiKey = '', hmacSecret = '' } = demo;
    const login = await json<{ accessToken: string }>('/api/v1/auth/login', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: demo.email, password: demo.password }),
    });
    const document = documentOf(name);
    const completed = addExamples(document, demoIds(demo), crypto.randomUUID().slice(0, 8)) as FullDocument;
    const [{ url: base } = { url: '/' }] = document.servers;
    const examples = requests(completed, base === '/' ? '' : base);
    expect(examples.length).toBeGreaterThan(3);
    const send = async (request: () => Request) => {
      const sent = request();
      sent.headers.set(
        'Authorization',
        `Bearer ${name === 'task-manager' ? login.accessToken : accessToken}`,
      );
      sent.headers.set('X-API-Key', apiKey);
      await signCallbacks(hmacSecret)(sent);
      const response = await fetch(sent);
      const text = await response.text();
      // A round has evidence some seconds after its callbacks, when its entries are sealed.
      return text.includes('"not_sealed"') ? undefined : { status: response.status, text };
    };
    for (const { title, request } of examples) {
      const { status, text } = await vi.waitUntil(() => send(request), testLimits.expect.poll);
      // A refused callback has the status 200, too.
      const isSuccess = status < 400 && (!title.includes('/callback/') || text.includes('"OK"'));
      expect.soft([title, isSuccess || text]).toEqual([title, true]);
    }
  });
});
