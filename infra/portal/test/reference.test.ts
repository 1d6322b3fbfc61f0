import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  pageFaults,
  noFaults,
  hasBrowser,
  desktop,
  gateway,
  phone,
  useBrowser,
  visit,
  type Visit,
} from './browser.ts';
import { stack } from './stack.ts';

useBrowser();

const titleOf = (name: string): string => {
  const file = join(import.meta.dirname, '../../../services', name, 'openapi.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { info: { title: string } }).info.title;
};

const headingOf = ({ page }: Visit, name: string) =>
  page.getByRole('heading', { name: titleOf(name), level: 1 });

/** An operation for each kind of authentication, with its place in the reference. */
const operations = [
  [
    'an access token',
    'store-webhooks',
    'tag/stores/GET/v1/stores',
    'get /v1/stores',
    '/v1/stores',
    '"stores"',
  ],
  ['a login', 'task-manager', 'tag/tasks/GET/tasks', 'get /tasks', '/api/v1/tasks', '"tasks"'],
  [
    'an API key',
    'verify-projects',
    'tag/projects/GET/projects',
    'get /projects',
    '/v1/projects',
    '"projects"',
  ],
  [
    'a signature',
    'wallet-operator',
    'tag/callbacks/POST/callback/balance',
    'post /callback/balance',
    '/callback/balance',
    '"status":"OK"',
  ],
  [
    'nothing but an id',
    'quest-service',
    'tag/questions/GET/quests/{questId}/questions',
    'get /quests/{questId}/questions',
    `/v1/quests/${stack.demo.questId}/questions`,
    'hiking-',
  ],
] as const;

describe.runIf(hasBrowser)('the reference', () => {
  test('a service that is not deployed is left out', async () => {
    await using visited = await visit('/healthz');
    const { page, requestedPaths } = visited;
    await page.route('**/docs/status/task-manager', (route) => route.fulfill({ status: 404, body: '{}' }));
    await page.goto(`${gateway}/docs/reference/`);
    await headingOf(visited, 'quest-service').waitFor();
    expect(requestedPaths).not.toContain('/openapi/task-manager.json');
  });

  // The tests below cover the other services, with a request.
  test('consignments are described, on a phone, too', async () => {
    await using visited = await visit('/docs/reference/?api=consignments', phone);
    await headingOf(visited, 'consignments').waitFor();
    expect(visited.requestedPaths).toContain('/openapi/consignments.json');
    expect(await visited.page.locator('main, [role=main]').count()).toBe(1);
    expect(visited.faults).toEqual([]);
  });

  test.each(operations)(
    'an operation that needs %s is described and can be tried',
    async (_authentication, name, anchor, operation, path, text) => {
      await using visited = await visit(`/docs/reference/?api=${name}#${name}/${anchor}`, {
        ...desktop,
        demo: true,
      });
      const { page } = visited;
      await headingOf(visited, name).waitFor();
      expect(visited.requestedPaths).toContain(`/openapi/${name}.json`);
      const testButtons = page.getByRole('button', { name: 'Test Request' });
      await testButtons.filter({ hasText: `(${operation})` }).click();
      const received = page.waitForResponse((response) => new URL(response.url()).pathname === path);
      await page.getByRole('button', { name: /^Send/ }).first().click();
      const response = await received;
      expect([response.status(), await response.text()]).toEqual([200, expect.stringContaining(text)]);
      // Values that were filled in are not stored for the next visit.
      const stored = await page.evaluate(() => {
        sessionStorage.removeItem('demo');
        return JSON.stringify([{ ...localStorage }, { ...sessionStorage }]);
      });
      expect(stored).not.toMatch(/eyJ|vk_live/);
      expect(visited.outside).toEqual([]);
      expect(visited.faults).toEqual([]);
    },
  );

  test.each([
    ['store-webhooks', phone, 1],
    ['store-webhooks', desktop, 1],
    ['wallet-operator', desktop, 2],
    ['task-manager', desktop, 1],
    ['quest-service', desktop, 1],
    ['verify-projects', desktop, 1],
    ['consignments', phone, 1],
  ])(
    'the reference of %s has no axe violation, in light and dark mode (%j)',
    async (name, screen, examples) => {
      await using visited = await visit(`/docs/reference/?api=${name}`, {
        ...screen,
        bypassCSP: true,
        reducedMotion: 'reduce',
      });
      await headingOf(visited, name).waitFor();
      await visited.page
        .getByRole('button', { name: 'Copy the code' })
        .first()
        .waitFor({ state: 'attached' });
      // Scalar renders operations only near the visible area.
      await expect
        .poll(async () => {
          await visited.page.mouse.wheel(0, 400);
          return visited.page.locator('.response-card').count();
        })
        .toBeGreaterThanOrEqual(examples);
      const { violations } = await pageFaults(visited.page);
      expect(violations).toEqual(noFaults.violations);
    },
  );
});
