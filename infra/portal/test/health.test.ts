import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  pageFaults,
  noFaults,
  hasBrowser,
  desktop,
  phone,
  useBrowser,
  visit,
  type Visit,
} from './browser.ts';
import { enterToken, loaded, signedIn } from './sign-in.ts';
import { stack } from './stack.ts';
import { tokenWith } from './api.ts';

useBrowser();
const { demo } = stack;

const checks = { database: 'ok', migrations: 'ok', redis: 'ok' };

/** Responds like services with these values. */
const withValues =
  (values: Record<string, number | null>, changedChecks: Partial<typeof checks> = {}) =>
  async (route: Route): Promise<void> =>
    route.fulfill({
      json: {
        instance: 'test/1',
        startedAt: new Date().toISOString(),
        source: 'process',
        processes: null,
        points: [],
        health: { ready: true, degraded: false, checks: { ...checks, ...changedChecks } },
        values,
      },
    });

/** An alert in the form that services return from Prometheus. */
const firing = (alert: string, service: string) => ({
  alert,
  service,
  severity: 'page',
  summary: `${alert} of ${service}`,
  action: `Repair ${alert}.`,
  guide: 'docs/deploy.md#troubleshooting',
  since: '2026-11-24T10:00:00Z',
});

const openLedger = async (prepare: (page: Page) => Promise<unknown>, options = {}): Promise<Visit> => {
  const visited = await visit('/docs/ops/#ledger', options);
  await prepare(visited.page);
  await enterToken(visited.page, demo.adminToken);
  await visited.page.locator('.strip summary', { hasNotText: 'Checking' }).waitFor();
  return visited;
};

const summaries = '**/docs/ops/summary/**';
const alerts = '**/docs/ops/alerts/**';
const item = (page: Page, name: string) => page.locator('.strip .chips a', { hasText: name });

describe.runIf(hasBrowser)('the health strip', () => {
  test('shows values of the running platform', async () => {
    await using visited = await openLedger(async () => {});
    const { page } = visited;
    await expect.poll(() => item(page, 'Services').textContent()).toContain('6 of 6 ready');
    for (const name of ['Failed events', 'Refused events', 'Spool', 'Mail queue', 'Stuck rounds'])
      expect(await item(page, name).locator('strong').textContent()).toMatch(/^\d/);
    expect(await item(page, 'Gateway').textContent()).toMatch(/\d ms$/);
    expect(visited.faults).toEqual([]);
  });

  test('shows problems that the services report, with instructions', async () => {
    const values = { wallet_stuck_rounds: 3, webhooks_failed: 2, webhooks_spool_bytes: 1200 };
    await using visited = await openLedger((page) =>
      page.route(summaries, withValues(values, { redis: 'degraded' })),
    );
    const { page } = visited;
    expect(await item(page, 'Stuck rounds').getAttribute('data-state')).toBe('warn');
    expect(await item(page, 'Spool').getAttribute('data-state')).toBe('bad');
    expect(await item(page, 'Redis').textContent()).toContain('0 of 6 reach it');
    expect(await item(page, 'Database').textContent()).toContain('6 of 6 reach it');
    await page.locator('.strip summary').press('Enter');
    // One entry for all services that report it.
    const stuck = page.locator('.alerts li', { hasText: 'RoundsStuck' });
    expect(await stuck.textContent()).toContain('RoundsStuck · all 6 services');
    expect(await stuck.textContent()).toContain('Stuck rounds: 3');
    expect(await stuck.locator('.state').textContent()).toBe('not urgent');
    expect(await stuck.textContent()).toContain('the game server has to');
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

  test('shows the firing alerts of Prometheus, with their start and instructions', async () => {
    const reported = [
      firing('OldestEventWaits', 'store-webhooks'),
      firing('ErrorRateHigh', 'task-manager'),
      firing('ErrorRateHigh', 'quest-service'),
    ];
    await using visited = await openLedger(async (page) => {
      await page.route(summaries, withValues({}));
      await page.route(alerts, (route) => route.fulfill({ json: { hasPrometheus: true, alerts: reported } }));
    });
    const { page } = visited;
    expect(await page.locator('.strip summary').textContent()).toBe(
      'Services: 6 of 6 ready · 2 alerts: OldestEventWaits, ErrorRateHigh',
    );
    expect(await item(page, 'Oldest pending').getAttribute('data-state')).toBe('plain');
    expect(await item(page, 'Services').getAttribute('data-state')).toBe('good');
    await page.locator('.strip summary').press('Enter');
    const errors = page.locator('.alerts li', { hasText: 'ErrorRateHigh' });
    expect(await errors.textContent()).toContain('ErrorRateHigh of task-manager (and 1 more)');
    expect(await errors.textContent()).toContain('Repair ErrorRateHigh.');
    expect(await errors.textContent()).toMatch(/task-manager, quest-service · since .*\d/);
  });

  test('has one sentence for an alert of all services', async () => {
    const names = [
      'task-manager',
      'quest-service',
      'store-webhooks',
      'wallet-operator',
      'verify-projects',
      'consignments',
    ];
    const reported = names.map((name) => firing('DatabaseUnavailable', name));
    await using visited = await openLedger(async (page) => {
      await page.route(summaries, withValues({}));
      await page.route(alerts, (route) => route.fulfill({ json: { hasPrometheus: true, alerts: reported } }));
    });
    await visited.page.locator('.strip summary').press('Enter');
    const entry = visited.page.locator('.alerts li', { hasText: 'DatabaseUnavailable' });
    expect(await entry.locator('strong').textContent()).toBe('All 6 services have lost their database');
  });

  test('reports that Prometheus does not respond', async () => {
    await using visited = await openLedger(async (page) => {
      await page.route(summaries, withValues({}));
      await page.route(alerts, (route) => route.fulfill({ json: { hasPrometheus: true, alerts: null } }));
    });
    expect(await visited.page.locator('.strip summary').textContent()).toBe(
      'Services: 6 of 6 ready · No alerts; Prometheus does not respond',
    );
  });

  test.each([
    ['a minute ago', 60, '1 min ago', 'good'],
    ['never', null, 'not yet', 'plain'],
  ])('a ledger that was verified %s', async (_time, seconds, text, look) => {
    await using visited = await openLedger((page) =>
      page.route(summaries, withValues({ wallet_proof_age_seconds: seconds })),
    );
    const chip = item(visited.page, 'Ledger verified');
    expect(await chip.locator('strong').textContent()).toBe(text);
    expect(await chip.getAttribute('data-state')).toBe(look);
  });

  test('without alerts it says so', async () => {
    await using visited = await openLedger((page) =>
      page.route(summaries, withValues({ wallet_stuck_rounds: 0, webhooks_failed: 0 })),
    );
    expect(await visited.page.locator('.strip summary').textContent()).toBe(
      'Services: 6 of 6 ready · No alerts',
    );
  });

  test.each([
    [
      'that answers but is not ready is not reported as down',
      { status: 200, json: { ready: false, degraded: false } },
      'No alerts',
    ],
    [
      'whose status request the gateway limits is not reported as down',
      { status: 429, json: {} },
      'No alerts',
    ],
    ['that is overloaded is not reported as down', { status: 503, json: { code: 'too_busy' } }, 'No alerts'],
    ['that does not answer is reported as down', { status: 502, json: {} }, '1 alert: ServiceDown'],
  ])('a service %s', async (_case, response, headline) => {
    await using visited = await openLedger(async (page) => {
      await page.route(summaries, withValues({}));
      await page.route('**/docs/status/**', (route) => route.fulfill(response));
    });
    const { page } = visited;
    expect(await page.locator('.strip summary').textContent()).toBe(`Services: 0 of 6 ready · ${headline}`);
    expect(await item(page, 'Services').textContent()).toContain('0 of 6 ready');
    expect(await item(page, 'Services').getAttribute('data-state')).toMatch(/^(?:warn|bad)$/);
  });

  test('a service that is not deployed is left out, and the sign-in uses another one', async () => {
    await using visited = await openLedger(async (page) => {
      await page.route(summaries, withValues({}));
      for (const path of ['status', 'ops/caller'])
        await page.route(`**/docs/${path}/quest-service`, (route) =>
          route.fulfill({ status: 404, json: {} }),
        );
    });
    await expect.poll(() => item(visited.page, 'Services').textContent()).toContain('5 of 5 ready');
  });

  test('services that become not ready are shown before their values are read', async () => {
    await using visited = await openLedger((page) => page.route(summaries, withValues({})));
    const { page } = visited;
    await expect.poll(() => item(page, 'Services').textContent()).toContain('6 of 6 ready');
    await page.route(summaries, () => {});
    await page.route('**/docs/status/**', (route) =>
      route.fulfill({ json: { ready: false, degraded: false } }),
    );
    await expect.poll(() => page.locator('.strip summary').textContent()).toContain('0 of 6 ready');
    expect(await page.locator('.strip details').getAttribute('data-state')).toBe('bad');
    expect(await item(page, 'Services').getAttribute('data-state')).toBe('bad');
  });

  test('an outage is red at once, before other data is read, in every part of the page', async () => {
    await using visited = await visit('/docs/ops/#traffic');
    const { page } = visited;
    await page.route(summaries, () => {});
    await page.route(alerts, () => {});
    await page.route('**/docs/status/**', (route) => route.fulfill({ status: 502, json: {} }));
    // The first request is that of the sign-in.
    await page.route(summaries, (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
    await enterToken(page, demo.adminToken);
    const line = page.locator('.strip details');
    await line.getByText('Services: 0 of 6 ready').waitFor();
    expect(await line.getAttribute('data-state')).toBe('bad');
    await expect
      .poll(() => page.locator('.service .state').allTextContents())
      .toEqual(Array.from({ length: 6 }, () => 'Unavailable'));
    await page.route('**/docs/status/**', (route) =>
      route.fulfill({ json: { ready: true, degraded: false } }),
    );
    await line.getByText('Services: 6 of 6 ready').waitFor();
    expect(await page.locator('.service .state').allTextContents()).toEqual(
      Array.from({ length: 6 }, () => 'Ready'),
    );
  });

  test('is not shown to a token without the scope, and no service gets a request for it', async () => {
    await using visited = await signedIn('rounds', {}, await tokenWith('wallet:read'));
    await loaded(visited.page);
    expect(await visited.page.locator('.strip').count()).toBe(0);
    expect(visited.requestedPaths.filter((path) => path.startsWith('/docs/ops/summary'))).toEqual([]);
  });

  test('an unreachable gateway is shown', async () => {
    await using visited = await openLedger((page) => page.route('**/healthz', (route) => route.abort()));
    expect(await item(visited.page, 'Gateway').textContent()).toContain('unreachable');
    expect(await item(visited.page, 'Gateway').getAttribute('data-state')).toBe('bad');
  });

  test('has no axe violation when it is open, and fits a phone and a desktop, in light and dark mode', async () => {
    await using visited = await openLedger(
      (page) => page.route(summaries, withValues({ wallet_stuck_rounds: 3 }, { database: 'down' })),
      { ...phone, bypassCSP: true, reducedMotion: 'reduce' },
    );
    const { page } = visited;
    await page.locator('.strip summary').click();
    for (const { viewport } of [phone, desktop]) {
      await page.setViewportSize(viewport);
      expect(await pageFaults(page)).toEqual(noFaults);
    }
  });
});
