import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violations } from './axe.ts';
import { canLook, desktop, phone, useBrowser, visit, type Visit } from './browser.ts';
import { enterToken } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const { demo } = stack;

const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

/** Answers of the services in which these gauges have had these values for an hour. */
const withGauges =
  (gauges: Record<string, number | null>) =>
  async (route: Route): Promise<void> => {
    const times = Array.from({ length: 90 }, (_, at) => minutesAgo(89 - at));
    const values = Object.entries(gauges).map(([name, value]) => [
      name,
      times.map((_, at) => (at < 20 ? 0 : value)),
    ]);
    await route.fulfill({
      json: {
        instance: 'test/1',
        startedAt: times[0],
        points: [],
        gauges: { times, values: Object.fromEntries(values) as object },
      },
    });
  };

const opened = async (prepare: (page: Page) => Promise<unknown>, options = {}): Promise<Visit> => {
  const visited = await visit('/docs/ops/#ledger', options);
  await prepare(visited.page);
  await enterToken(visited.page, demo.adminToken);
  await visited.page.locator('.strip summary', { hasNotText: 'Checking' }).waitFor();
  return visited;
};

const summaries = '**/docs/ops/summary/**';
const item = (page: Page, name: string) => page.locator('.strip .chips a', { hasText: name });

describe.runIf(canLook)('the health strip', () => {
  test('shows values of the running platform', async () => {
    await using visited = await opened(async () => {});
    const { page } = visited;
    await expect.poll(() => item(page, 'Services').textContent()).toContain('6 of 6 ready');
    for (const name of ['Failed events', 'Refused events', 'Spool', 'Mail queue', 'Stuck rounds'])
      expect(await item(page, name).locator('strong').textContent()).toMatch(/^\d/);
    expect(await item(page, 'Gateway').textContent()).toMatch(/\d ms$/);
    expect(visited.faults).toEqual([]);
  });

  test('says what fires, since when, and what to do', async () => {
    const gauges = { wallet_stuck_rounds: 3, webhooks_failed: 2, db_up: 1, webhooks_spool_bytes: 1200 };
    await using visited = await opened((page) => page.route(summaries, withGauges(gauges)));
    const { page } = visited;
    expect(await item(page, 'Stuck rounds').getAttribute('data-state')).toBe('warn');
    expect(await item(page, 'Spool').getAttribute('data-state')).toBe('bad');
    await page.locator('.strip summary').press('Enter');
    // One entry for all services that report it.
    const stuck = page.locator('.alerts li', { hasText: 'RoundsStuck' });
    expect(await stuck.textContent()).toContain('RoundsStuck · all 6 services');
    expect(await stuck.textContent()).toContain('3 rounds are open for too long');
    expect(await stuck.locator('.state').textContent()).toBe('not urgent');
    expect(await stuck.textContent()).toContain('the game server has to');
    expect(await stuck.textContent()).toMatch(/since .*\d/);
    expect(await stuck.getByRole('link', { name: 'Guide' }).getAttribute('href')).toBe(
      '/docs/guides/wallet-operator/#management-api',
    );
    const failed = page.locator('.alerts li', { hasText: 'EventsFailed' }).first();
    expect(await failed.getByRole('link', { name: 'Failed events' }).getAttribute('href')).toBe(
      '#webhooks?store=-&status=failed',
    );
    // The most urgent one comes first.
    const spool = page.locator('.alerts li').first();
    expect(await spool.textContent()).toContain('SpoolHoldsEvents');
    expect(await spool.locator('.state').textContent()).toBe('urgent');
  });

  test.each([
    ['a minute ago', 60, '1 min ago', 'good'],
    ['not since the wallet started', null, 'not yet', 'plain'],
  ])('a ledger that was verified %s', async (_when, seconds, text, look) => {
    await using visited = await opened((page) =>
      page.route(summaries, withGauges({ wallet_proof_age_seconds: seconds })),
    );
    const chip = item(visited.page, 'Ledger verified');
    expect(await chip.locator('strong').textContent()).toBe(text);
    expect(await chip.getAttribute('data-state')).toBe(look);
  });

  test('without alerts it says so', async () => {
    await using visited = await opened((page) =>
      page.route(summaries, withGauges({ wallet_stuck_rounds: 0, webhooks_failed: 0 })),
    );
    expect(await visited.page.locator('.strip summary').textContent()).toBe('No alerts');
  });

  test.each([
    [
      'that answers but is not ready is not reported as down',
      { status: 200, json: { ready: false, degraded: false } },
      'No alerts',
    ],
    ['whose state the gateway does not give is not reported as down', { status: 429, json: {} }, 'No alerts'],
    ['that does not answer is reported as down', { status: 502, json: {} }, 'soon: ServiceDown'],
  ])('a service %s', async (_what, answer, headline) => {
    await using visited = await opened(async (page) => {
      await page.route(summaries, withGauges({}));
      await page.route('**/docs/status/**', (route) => route.fulfill(answer));
    });
    const { page } = visited;
    expect(await page.locator('.strip summary').textContent()).toBe(headline);
    expect(await item(page, 'Services').textContent()).toContain('0 of 6 ready');
    expect(await item(page, 'Services').getAttribute('data-state')).toBe('warn');
  });

  test('services that become not ready are shown before their values are read', async () => {
    await using visited = await opened((page) => page.route(summaries, withGauges({})));
    const { page } = visited;
    await expect.poll(() => item(page, 'Services').textContent()).toContain('6 of 6 ready');
    await page.route(summaries, () => {});
    await page.route('**/docs/status/**', (route) =>
      route.fulfill({ json: { ready: false, degraded: false } }),
    );
    await expect.poll(() => item(page, 'Services').textContent()).toContain('0 of 6 ready');
    expect(await item(page, 'Services').getAttribute('data-state')).toBe('warn');
  });

  test('a token without the scope is told which one is missing', async () => {
    await using visited = await visit('/docs/ops/#ledger');
    await enterToken(visited.page, demo.consignmentsToken);
    const summary = visited.page.locator('.strip summary');
    await expect.poll(() => summary.textContent()).toContain('ops:read');
  });

  test('an unreachable gateway is shown', async () => {
    await using visited = await opened((page) => page.route('**/healthz', (route) => route.abort()));
    expect(await item(visited.page, 'Gateway').textContent()).toContain('unreachable');
    expect(await item(visited.page, 'Gateway').getAttribute('data-state')).toBe('bad');
  });

  test.each([desktop, phone])('open it has no axe violation and fits the screen: %o', async (screen) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using visited = await opened(
        (page) => page.route(summaries, withGauges({ wallet_stuck_rounds: 3, db_up: 0 })),
        { ...screen, colorScheme, bypassCSP: true },
      );
      const { page } = visited;
      await page.locator('.strip summary').click();
      expect(await violations(page)).toEqual([]);
      const [content, width] = await page.evaluate(() => [document.body.scrollWidth, innerWidth]);
      expect(content).toBeLessThanOrEqual(width ?? 0);
    }
  });
});
