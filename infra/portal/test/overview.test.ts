import { describe, expect, test } from 'vitest';
import { lastCode } from './demo-code.ts';
import { outputFile } from './stack.ts';
import { hasBrowser, desktop, gateway, phone, useBrowser, visit } from './browser.ts';

useBrowser();

const titles = [
  'Task manager',
  'Quest service',
  'Store webhooks',
  'Wallet operator',
  'Verification projects',
  'Consignments',
];

describe.runIf(hasBrowser)('the portal', () => {
  test('each service is shown with its purpose, its addresses, and whether it is ready', async () => {
    await using visited = await visit('/docs');
    const { page } = visited;
    await page.getByText('Every service is ready.').waitFor();
    expect(await page.locator('.card h3').allTextContents()).toEqual(titles);
    expect(await page.locator('.card .state').allTextContents()).toEqual(titles.map(() => 'Ready'));
    const wallet = page.locator('[data-service=wallet-operator]');
    expect(await wallet.locator('.addresses code').allTextContents()).toContain('/v1/rounds');
    expect(await page.textContent('#origin')).toBe(gateway);
  });

  test('a service that does not answer is shown as unavailable', async () => {
    await using visited = await visit('/healthz');
    const { page } = visited;
    await page.route('**/docs/status/quest-service', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.goto(`${gateway}/docs/`);
    await page.getByText('5 of 6 services are ready.').waitFor();
    expect(await page.textContent('[data-service=quest-service] .state')).toBe('Unavailable');
  });

  test('a service that is not deployed is left out', async () => {
    await using visited = await visit('/healthz');
    const { page } = visited;
    await page.route('**/docs/status/quest-service', (route) => route.fulfill({ status: 404, body: '{}' }));
    await page.goto(`${gateway}/docs/`);
    await page.getByText('Every service is ready.').waitFor();
    expect(await page.isVisible('[data-service=quest-service]')).toBe(false);
    expect(await page.isVisible('[data-service=consignments]')).toBe(true);
  });

  test('a demo stack is marked as such, and its credentials are not visible', async () => {
    await using visited = await visit('/docs/', { demo: true });
    await visited.page.getByText('This is a demo stack').waitFor();
    expect(await visited.page.getByRole('button', { name: /^Copy: / }).count()).toBe(5);
    expect(await visited.page.content()).not.toMatch(/eyJ|try-me-out|vk_live/);
  });

  test('the code that start prints opens the demo once, in one tab, and disappears from the address', async () => {
    const code = await lastCode(outputFile);
    await using visited = await visit(`/docs/#code=${code}`);
    const { page } = visited;
    await page.getByText('This is a demo stack').waitFor();
    expect(page.url()).toBe(`${gateway}/docs/`);
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('button', { name: 'Use the demo token' }).waitFor();

    const tab = await page.context().newPage();
    await tab.goto(`${gateway}/docs/#code=${code}`);
    await tab.getByText('Every service is ready.').waitFor();
    expect(await tab.isVisible('#demo')).toBe(false);
    expect(await tab.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
    await expect.poll(() => lastCode(outputFile)).not.toBe(code);
  });

  test('a code that is pasted into the address of an open page opens the demo', async () => {
    const code = await lastCode(outputFile);
    await using visited = await visit('/docs/');
    const { page } = visited;
    await page.evaluate((fragment) => (location.hash = fragment), `#code=${code}`);
    await page.getByText('This is a demo stack').waitFor();
    expect(page.url()).toBe(`${gateway}/docs/`);
    await expect.poll(() => lastCode(outputFile)).not.toBe(code);
  });

  test('a demo token of an earlier start is removed, and the page says where to find a new one', async () => {
    await using visited = await visit('/docs/');
    const { page } = visited;
    await page.evaluate(() => sessionStorage.setItem('demo', '{"accessToken":"e.e.e"}'));
    await page.goto(`${gateway}/docs/ops/`);
    await page.getByRole('button', { name: 'Use the demo token' }).click();
    await page.getByText('Open the link that `start` printed.').waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('demo'))).toBe(null);
  });

  test('a browser that blocks storage opens the demo for one page', async () => {
    // The earlier code was already used.
    const code = await lastCode(outputFile);
    await using visited = await visit('/healthz');
    const { page } = visited;
    await page.addInitScript(() => {
      Object.defineProperty(window, 'sessionStorage', {
        get: () => {
          throw new DOMException('The operation is insecure.', 'SecurityError');
        },
      });
    });
    await page.goto(`${gateway}/docs/`);
    await page.getByText('Every service is ready.').waitFor();
    await page.goto(`${gateway}/docs/?again#code=${code}`);
    await page.getByText('This is a demo stack').waitFor();
    expect(visited.faults).toEqual([]);
  });

  const pages = [
    '/docs/',
    '/docs/reference/',
    '/docs/ops/',
    '/docs/guides/',
    '/docs/guides/wallet-operator/',
  ];

  test.each(pages)(
    '%s sends requests only to the gateway, violates no Content-Security-Policy, and fits a phone and a desktop, in light and dark mode',
    async (path) => {
      const colours = new Set<string>();
      await using visited = await visit(path, phone);
      const { page } = visited;
      await page.waitForLoadState('networkidle');
      for (const { viewport } of [phone, desktop]) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          expect(overflow).toBeLessThanOrEqual(0);
          colours.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        }
      }
      expect(colours.size).toBe(2);
      expect(visited.outside).toEqual([]);
      expect(visited.faults).toEqual([]);
      expect(visited.requestedPaths.some((path) => path.endsWith('.woff2'))).toBe(true);
    },
  );

  test.each(['/docs/', '/docs/ops/'])('%s can be used with the keyboard alone', async (path) => {
    await using visited = await visit(path);
    const { page } = visited;
    await page.waitForLoadState('networkidle');
    // The first Tab stop of the page; it is hidden until it has the focus.
    await page.getByText('Skip to the content').focus();
    const controls = await page.locator(':is(a, button, input):not([tabindex="-1"]):visible').count();
    for (let index = 1; index < controls; index++) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(() => {
        const { activeElement } = document;
        const { outlineStyle, outlineWidth } = getComputedStyle(activeElement ?? document.body);
        const label = activeElement instanceof HTMLInputElement && activeElement.labels?.[0]?.textContent;
        return [outlineStyle, outlineWidth, Boolean(label || activeElement?.textContent?.trim())];
      });
      expect(focused).toEqual(['solid', '2px', true]);
    }
  });
});
