import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '@platform/service-list';
import { testLimits } from '@platform/local/test-limits';
import { describe, expect, test, vi } from 'vitest';
import { demoIds, addExamples, signCallbacks, type Document } from '../src/site/fill-in.ts';
import { hasBrowser, gateway } from './browser.ts';
import { demo } from './stack.ts';

interface Described extends Document {
  servers: { url: string }[];
  security?: object[];
}

const documentOf = (name: string): Described =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../services', name, 'openapi.json'), 'utf8'),
  ) as Described;

const json = async <T>(path: string, init?: RequestInit): Promise<T> =>
  (await (await fetch(gateway + path, init)).json()) as T;

const leftOut = [
  // A demo of tests has no game server.
  'POST /v1/launches',
  'GET /v1/currencies',
  // Ids that a service makes with their time in them, so that a demo cannot have them for ever.
  'GET /v1/launches/{launchId}',
  'GET /v1/players/{playerId}/sessions/{sessionId}',
  'GET /v1/stores/{storeId}/events/{eventId}',
  'POST /v1/stores/{storeId}/events/{eventId}/replay',
  'POST /v1/stores/{storeId}/events/{eventId}/recheck',
  'POST /v1/stores/{storeId}/events/{eventId}/dismiss',
  'POST /v1/stores/{storeId}/events/{eventId}/dry-run',
  // The secret of an invitation depends on the keys of the service. No store of the demo has a POS that is mapped.
  'POST /lists/join',
  'POST /v1/stores/{storeId}/events/dry-run',
  // There is no mail server, and so no code of a mail.
  'POST /auth/password/reset',
  'POST /auth/password/reset/confirm',
  'POST /auth/email',
  'POST /auth/email/verification',
  'POST /auth/email/verify',
  'POST /v1/stores/{storeId}/notifications/{notificationId}/resend',
  // Needs a cookie; ends the session that the others need.
  'POST /auth/refresh',
  'GET /auth/logout',
  'POST /auth/me/delete',
];
/** Operations that need the token of an operator. */
const ofOperators = /\/auth\/(?:admin|login-waits)\//;

/** A text, such as CSV, is sent as it is. */
const textOf = (example: unknown): string =>
  typeof example === 'string' ? example : JSON.stringify(example);

/** What the reference would send first, one request for each operation that its examples are enough for. */
const requests = (document: Described, base: string): { title: string; request: () => Request }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody, servers = [] }]) => {
      const inPath = parameters.filter((one) => one.in === 'path');
      const [content] = Object.entries(requestBody?.content ?? {});
      if (method === 'delete') return [];
      const filled = inPath.reduce(
        (text, { name, example }) => text.replace(`{${name}}`, String(example)),
        path,
      );
      const query = new URLSearchParams(
        parameters.flatMap(({ name, in: place, example }) =>
          place === 'query' && typeof example === 'string' ? [[name, example]] : [],
        ),
      );
      const request = () =>
        new Request(`${gateway}${servers[0]?.url ?? base}${filled}${query.size > 0 ? `?${query}` : ''}`, {
          method: method.toUpperCase(),
          ...(content && {
            headers: { 'Content-Type': content[0] },
            body: textOf(content[1].example),
          }),
        });
      const title = `${method.toUpperCase()} ${path}`;
      return leftOut.includes(title) || ofOperators.test(title) ? [] : [{ title, request }];
    }),
  );

describe.runIf(hasBrowser)('the requests that the reference has ready in a demo', () => {
  test.each(services)('of $name are answered', async ({ name }) => {
    if (demo === null) throw new Error('there is no demo');
    const { accessToken, apiKey = '', hmacSecret = '' } = demo;
    const login = await json<{ accessToken: string }>('/api/v1/auth/login', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: demo.email, password: demo.password }),
    });
    const document = documentOf(name);
    const filled = addExamples(document, demoIds(demo), crypto.randomUUID().slice(0, 8)) as Described;
    const [{ url: base } = { url: '/' }] = document.servers;
    const ready = requests(filled, base === '/' ? '' : base);
    expect(ready.length).toBeGreaterThan(3);
    const send = async (request: () => Request) => {
      const sent = request();
      sent.headers.set(
        'Authorization',
        `Bearer ${name === 'task-manager' ? login.accessToken : accessToken}`,
      );
      sent.headers.set('X-API-Key', apiKey);
      await signCallbacks(hmacSecret)(sent);
      const answer = await fetch(sent);
      const text = await answer.text();
      // There is evidence of a round once its entries are sealed, some seconds after the callbacks.
      return text.includes('"not_sealed"') ? undefined : { answer, text };
    };
    for (const { title, request } of ready) {
      const { answer, text } = await vi.waitUntil(() => send(request), testLimits.expect.poll);
      // A callback that is refused is answered with 200, too.
      const well = answer.status < 400 && (!title.includes('/callback/') || text.includes('"OK"'));
      expect.soft([title, well || text]).toEqual([title, true]);
    }
  });
});
