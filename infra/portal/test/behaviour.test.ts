import { beforeAll, describe, expect, test } from 'vitest';
import {
  pageFaults,
  noFaults,
  violations,
  hasBrowser,
  desktop,
  gateway,
  phone,
  useBrowser,
  visit,
} from './browser.ts';
import { enterToken, loaded, openView, signedIn, views } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const { demo } = stack;

const unavailable = {
  status: 503,
  contentType: 'application/problem+json',
  body: JSON.stringify({ detail: 'The database is unavailable.', requestId: 'r-1' }),
};

describe.runIf(hasBrowser)('the behaviour of the operations page', () => {
  beforeAll(async () => {
    for (let order = 0; order < 30; order++)
      await fetch(`${gateway}/api/v1/hooks/order_updated/${demo.store.webhookToken}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ id: `behaviour-${order}`, status: order % 2 ? 4 : 'PENDING' }),
      });
  });

  test('filters are part of the address, so that links and going back work', async () => {
    await using visited = await signedIn('webhooks?status=failed&event=order_updated');
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('failed');
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('order_updated');
    await page.getByLabel('Status').selectOption('done');
    await expect.poll(() => page.url()).toContain('status=done');
    await page.goBack();
    await expect.poll(() => page.getByLabel('Status').inputValue()).toBe('failed');
  });

  test('an invalid value of a filter is ignored', async () => {
    await using visited = await signedIn('webhooks?status=nothing&page=-3&from=yesterday');
    await visited.page.locator('tbody tr').first().waitFor();
    expect(await visited.page.getByLabel('Status').inputValue()).toBe('');
  });

  test('an open webhook is part of the address', async () => {
    await using visited = await signedIn('webhooks');
    const { page } = visited;
    await page.locator('tbody tr button').first().click();
    await page.getByRole('dialog').getByText('Attempts').waitFor();
    const address = page.url();
    expect(address).toContain('open=');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('open=');
    await using other = await signedIn(address.split('#')[1] ?? '');
    await other.page.getByRole('dialog').getByText('Attempts').waitFor();
  });

  test('when the token expires, the page says so, and the next sign-in continues at the same place', async () => {
    await using visited = await signedIn('webhooks?status=failed');
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    await page.route('**/events?**', (route) => route.fulfill({ status: 401, body: '{}' }), { times: 1 });
    await page.getByLabel('Event', { exact: true }).selectOption('order_updated');
    await page.getByText('is no longer accepted').waitFor();
    expect(await page.isVisible('#dashboard')).toBe(false);
    await enterToken(page, demo.adminToken);
    await page.locator('tbody tr').first().waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('failed');
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('order_updated');
  });

  test('a token that is valid longer than the maximum of a browser timer keeps the session', async () => {
    await using visited = await visit('/docs/ops/#ledger');
    const { page } = visited;
    await page.clock.install();
    await page.route(/\/(?:v1|docs\/ops)\//, (route) => route.fulfill(unavailable));
    const claims = { sub: 'ann', exp: Math.floor(Date.now() / 1000) + 60 * 86_400 };
    await enterToken(page, `e.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`);
    await page.getByText('Signed in as ann').waitFor();
    await page.clock.fastForward(2 ** 31);
    expect(await page.isVisible('#dashboard')).toBe(true);
  });

  test('the page shows that a list is loading, and after an error it can be loaded again', async () => {
    await using visited = await signedIn('rounds');
    const { page } = visited;
    await loaded(page);
    const release = Promise.withResolvers<void>();
    await page.route(
      '**/v1/audit/events?**',
      async (route) => {
        await release.promise;
        await route.fulfill(unavailable);
      },
      { times: 1 },
    );
    await page.getByRole('link', { name: 'Ledger', exact: true }).click();
    await page.getByText('Loading …').first().waitFor();
    release.resolve();
    await page.getByText('The database is unavailable. · Request r-1').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await loaded(page);
    expect(await page.getByText('The database is unavailable.').count()).toBe(0);
  });

  test('a request that would be refused again has no retry button', async () => {
    await using visited = await visit('/docs/ops/#ledger');
    const { page } = visited;
    const forbidden = { status: 403, json: { detail: 'The scope wallet:admin is needed.' } };
    await page.route('**/v1/audit/events?**', (route) => route.fulfill(forbidden));
    await enterToken(page, demo.adminToken);
    await page.getByText('The scope wallet:admin is needed.').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  test('only a failure of the network is shown as a gateway that cannot be reached', async () => {
    await using visited = await signedIn('rounds');
    const { page } = visited;
    const failure = page.locator('main .failure [role=alert]').first();
    await page.route('**/v1/stores/*/events?*', (route) => route.abort());
    await page.goto(`${gateway}/docs/ops/#webhooks?status=done`);
    await failure.getByText('The gateway cannot be reached.', { exact: true }).waitFor();
    await page.unroute('**/v1/stores/*/events?*');
    await page.route('**/v1/stores/*/events?*', (route) => route.fulfill({ json: { other: 1 } }));
    await page.getByRole('button', { name: 'Try again' }).click();
    await failure.getByText(/^The page could not show this: /).waitFor();
    expect(await page.getByText('The gateway cannot be reached.').count()).toBe(0);
  });

  test('an error that all services have is shown once', async () => {
    await using visited = await visit('/docs/ops/#traffic');
    const { page } = visited;
    await page.route('**/docs/ops/summary/*', (route) => route.fulfill(unavailable));
    await enterToken(page, demo.adminToken);
    const view = page.locator('[aria-label=Traffic]');
    await view.getByText('The database is unavailable.').first().waitFor();
    expect(await view.getByText('The database is unavailable.').count()).toBe(1);
  });

  test('times are shown and entered in the time zone of the reader or in UTC', async () => {
    await using visited = await signedIn('webhooks?from=2020-01-01T00:00:00.000Z', {
      timezoneId: 'Asia/Kolkata',
      locale: 'en-GB',
    });
    const { page } = visited;
    await page.getByText('Times in Asia/Calcutta').waitFor();
    expect(await page.getByLabel('From').inputValue()).toBe('2020-01-01T05:30');
    await page.getByRole('button', { name: 'Show UTC' }).click();
    await page.getByText('Times in UTC').waitFor();
    expect(await page.getByLabel('From').inputValue()).toBe('2020-01-01T00:00');
    const request = page.waitForRequest('**/events?**');
    await page.getByLabel('From').fill('2020-02-01T00:00');
    await page.getByLabel('From').blur();
    expect(decodeURIComponent((await request).url())).toContain('from=2020-02-01T00:00:00.000Z');
  });

  test('a time that no field can show is ignored, and a year has four digits', async () => {
    await using visited = await signedIn(
      `webhooks?from=${encodeURIComponent('+012345-01-01T00:00:00.000Z')}`,
    );
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    const from = page.getByLabel('From');
    expect([await from.inputValue(), await from.getAttribute('max')]).toEqual(['', '9999-12-31T23:59']);
    expect(visited.faults).toEqual([]);
  });

  test('content that cannot be rendered is shown as an error until the next response', async () => {
    await using visited = await signedIn('webhooks');
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    await page.route('**/v1/stores/*/events?*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { events: object[] };
      await route.fulfill({
        json: { ...answer, events: answer.events.map((event) => ({ ...event, receivedAt: 'x' })) },
      });
    });
    await page.getByLabel('Status').selectOption('done');
    await page.getByText('The page could not show this:').waitFor();
    await page.unroute('**/v1/stores/*/events?*');
    await page.getByLabel('Status').selectOption('');
    await page.locator('tbody tr').first().waitFor();
    expect(await page.getByText('The page could not show this:').count()).toBe(0);
  });

  test('the code of all views is loaded after the sign-in, so that a view opens without the gateway', async () => {
    await using visited = await signedIn('traffic');
    const { page } = visited;
    const loadedScripts = () =>
      page.evaluate(
        () =>
          performance.getEntriesByType('resource').filter(({ name }) => /evidence[^/]*\.js$/.test(name))
            .length,
      );
    await expect.poll(loadedScripts).toBe(1);
    await page.route('**/*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'Evidence' }).click();
    await page.locator('[aria-label=Evidence]').waitFor();
  });

  test('the list of 25 webhooks of a store is less than 2,600 pixels high on a phone', async () => {
    await using visited = await signedIn(`webhooks?store=${demo.store.id}`, {
      viewport: { width: 390, height: 844 },
    });
    const { page } = visited;
    await expect.poll(() => page.locator('tbody tr').count()).toBe(25);
    expect((await page.locator('table').boundingBox())?.height).toBeLessThan(2600);
  });

  test('every view fits a phone and a desktop, where it starts at most 240 pixels from the top, and has no axe violation in light and dark mode', async () => {
    await using visited = await signedIn('', { ...phone, bypassCSP: true, reducedMotion: 'reduce' });
    const { page } = visited;
    for (const view of views) {
      const element = await openView(page, view);
      for (const { viewport } of [phone, desktop]) {
        await page.setViewportSize(viewport);
        await loaded(page);
        // The list of mails is reloaded every two seconds, and a slow response dims it.
        await expect.poll(async () => ({ view, ...(await pageFaults(page)) })).toEqual({ view, ...noFaults });
      }
      expect((await element.boundingBox())?.y, view).toBeLessThanOrEqual(240);
    }
  });

  test('an open webhook has no axe violation', async () => {
    await using visited = await signedIn('webhooks', { bypassCSP: true });
    const { page } = visited;
    await page.locator('tbody tr button').first().click();
    await page.getByRole('dialog').getByText('Attempts').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test('the sign-in, the overview and the guides have no axe violation', async () => {
    for (const path of ['/docs/', '/docs/ops/', '/docs/guides/', '/docs/guides/consignments/']) {
      await using visited = await visit(path, { bypassCSP: true });
      await visited.page.waitForLoadState('networkidle');
      expect(await violations(visited.page)).toEqual([]);
    }
  });
});
