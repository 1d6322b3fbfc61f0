import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { hasBrowser, gateway } from './browser.ts';
import { stack } from './stack.ts';

/** Serves a page at its own origin; with port 0 that origin is not in CORS_ORIGINS. */
const servePage = async (port: number) => {
  const server = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end('<p>page'),
  );
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

interface Init {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  credentials?: 'include';
}

/** Runs in the page: returns the parts of a response that its scripts can read. */
const request = async ({ url, init }: { url: string; init: Init }) => {
  try {
    const response = await fetch(url, init);
    const names = ['etag', 'location', 'ratelimit', 'x-request-id', 'access-control-allow-origin'];
    const readable = names.filter((name) => response.headers.get(name) !== null);
    return { status: response.status, readable };
  } catch (error) {
    return String(error);
  }
};

test.runIf(hasBrowser)(
  'a page of an allowed origin can call every service through the gateway, and a page of another origin none',
  async () => {
    // The port that test-setup.ts allows.
    await using allowed = await servePage(Number(new URL(gateway).port) - 1);
    await using other = await servePage(0);
    const browser = await chromium.launch({
      executablePath: inject('chromiumPath') ?? '',
      args: ['--no-sandbox'],
    });
    try {
      const headers = { Authorization: `Bearer ${stack.demo.adminToken}` };
      const body = JSON.stringify({ title: 'From another origin' });
      const postHeaders = {
        ...headers,
        'Content-Type': 'application/json',
        'Idempotency-Key': crypto.randomUUID(),
      };
      const lists = [
        '/v1/quests',
        '/v1/stores',
        '/v1/games',
        '/v1/projects',
        '/v1/consignments',
        '/api/v1/tasks',
      ];
      const requests: [string, Init, object][] = [
        ...lists.map((path): [string, Init, object] => [
          path,
          { headers },
          { status: expect.toBeOneOf([200, 401, 403]), readable: expect.arrayContaining(['x-request-id']) },
        ]),
        [
          `/v1/quests/${stack.demo.questId}`,
          { headers },
          { status: 200, readable: expect.arrayContaining(['etag', 'ratelimit']) },
        ],
        [
          '/v1/quests',
          { method: 'POST', headers: postHeaders, body },
          { status: 201, readable: expect.arrayContaining(['location']) },
        ],
        // The gateway itself refuses this request.
        ['/nowhere', {}, { status: 404, readable: ['x-request-id'] }],
      ];
      const page = await browser.newPage();
      await page.goto(allowed.url);
      for (const [path, init, expected] of requests)
        expect([path, await page.evaluate(request, { url: gateway + path, init })]).toEqual([path, expected]);
      const refused = 'TypeError: Failed to fetch';
      const cookies: Init = { credentials: 'include' };
      expect(await page.evaluate(request, { url: `${gateway}/v1/quests`, init: cookies })).toBe(refused);
      await page.goto(other.url);
      for (const [path, init] of requests)
        expect([path, await page.evaluate(request, { url: gateway + path, init })]).toEqual([path, refused]);
    } finally {
      await browser.close();
    }
  },
);
