import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { callback, tokenWith } from './api.ts';
import { hasBrowser, gateway, phone, useBrowser, visit } from './browser.ts';
import { enterToken, loaded, signedIn } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const { demo } = stack;

const marker = randomUUID();
const hostile = `<img src=x onerror="alert('${marker}')"></pre><script>alert(1)</script>`;

const roundId = `round-${marker}<b onclick=alert(2)>`;

describe.runIf(hasBrowser)('the operations page', () => {
  beforeAll(async () => {
    await fetch(`${gateway}/api/v1/hooks/job_arrived/${demo.store.webhookToken}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': hostile },
      body: JSON.stringify({ note: hostile, status: hostile }),
    });
    const bet = { requestId: 'r', playerId: 'demo-1', roundId, gameCode: 'dice-alpha', amount: '2.50' };
    await callback('debit', { ...bet, transactionId: marker });
  });

  test('without a token nothing is shown, and no service gets a request', async () => {
    await using visited = await visit('/docs/ops/');
    await visited.page.waitForLoadState('networkidle');
    expect(
      visited.requestedPaths.filter((path) => path.startsWith('/v1') || path.startsWith('/docs/ops/caller')),
    ).toEqual([]);
    expect(await visited.page.isVisible('#dashboard')).toBe(false);
  });

  test.each(['x.y.z', 'not a token', 'e'.repeat(9000)])(
    'a text that is not a token is refused',
    async (token) => {
      await using visited = await visit('/docs/ops/');
      await enterToken(visited.page, token);
      await visited.page.locator('#sign-in-error:not(:empty)').waitFor();
      expect(await visited.page.inputValue('#token')).toBe('');
      expect(await visited.page.isVisible('#dashboard')).toBe(false);
    },
  );

  test('a token without scopes opens the page, and the view in the address names the missing scope', async () => {
    await using visited = await signedIn('ledger', {}, demo.consignmentsToken);
    await visited.page.getByText('Ledger needs the scope wallet:admin').waitFor();
    expect(await visited.page.getByRole('navigation', { name: 'Operations' }).getByRole('link').count()).toBe(
      0,
    );
    expect(visited.requestedPaths.filter((path) => path.startsWith('/v1'))).toEqual([]);
  });

  test.each([
    ['wallet:read', 'Rounds', 'Find Rounds Refusals Players Limits Money Reconciliation Evidence'],
    ['stores:read events:read', 'Webhooks', 'Find Webhooks Settings'],
    ['ops:read', 'Traffic', 'Traffic'],
    ['payments:read', 'Find', 'Find'],
    ['wallet:audit', 'Evidence', 'Evidence'],
    ['verify-projects:subscriptions', 'Subscriptions', 'Subscriptions'],
  ])(
    'a token with %s begins on %s without an error, and has only the views %s',
    async (scope, first, names) => {
      await using visited = await signedIn('', {}, await tokenWith(scope));
      const { page } = visited;
      const nav = page.getByRole('navigation', { name: 'Operations' });
      await page.locator(`section[aria-label="${first}"]`).waitFor();
      await loaded(page);
      expect((await nav.getByRole('link').allTextContents()).join(' ')).toBe(names);
      expect(await nav.locator('[aria-current]').textContent()).toBe(first);
      for (const name of names.split(' ')) {
        await nav.getByRole('link', { name, exact: true }).click();
        await page.locator(`section[aria-label="${name}"]`).waitFor();
        await loaded(page);
        expect([name, await page.locator('#dashboard .error').count()]).toEqual([name, 0]);
      }
      expect(visited.faults).toEqual([]);
    },
  );

  test('a read-only token shows the readable parts of a player without an error', async () => {
    await using visited = await signedIn('players?playerId=demo-1', {}, await tokenWith('wallet:read'));
    const { page } = visited;
    await page.getByRole('table', { name: 'Entries' }).waitFor();
    await loaded(page);
    expect(await page.locator('.view .error').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
  });

  test('while no service returns the scopes, every view is shown', async () => {
    await using visited = await visit('/docs/ops/#rounds');
    const { page } = visited;
    await page.route('**/docs/ops/caller/*', (route) => route.fulfill({ status: 503, body: '{}' }));
    await enterToken(page, await tokenWith('wallet:read'));
    await page.getByRole('link', { name: 'Ledger', exact: true }).click();
    await page.locator('section[aria-label=Ledger] .error').getByText('wallet:admin').first().waitFor();
    const links = page.getByRole('navigation', { name: 'Operations' }).getByRole('link');
    expect(await links.count()).toBe(14);
  });

  test('a fragment that names no view shows the first view', async () => {
    await using visited = await signedIn('toString');
    const { page } = visited;
    for (const name of ['toString', '__proto__', 'constructor', 'nothing']) {
      await page.evaluate((fragment) => (location.hash = fragment), `#${name}`);
      await page.locator('nav a[aria-current]', { hasText: 'Traffic' }).waitFor();
      await page.locator('.service .chart').first().waitFor();
    }
    expect(visited.faults).toEqual([]);
  });

  test('the token is in memory only, and removed by a reload or by signing out', async () => {
    await using visited = await signedIn('traffic');
    const { page } = visited;
    await page.locator('.service .chart').first().waitFor();
    const readable = await page.evaluate(() =>
      [
        location.href,
        JSON.stringify(localStorage),
        JSON.stringify(sessionStorage),
        JSON.stringify(history.state),
        document.cookie,
        document.documentElement.outerHTML,
        ...[...document.querySelectorAll('input')].map(({ value }) => value),
      ].join('\n'),
    );
    expect(readable).not.toContain(demo.adminToken.slice(-40));
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByLabel('Access token').waitFor();
    expect(await page.isVisible('#dashboard')).toBe(false);
    await enterToken(page, demo.adminToken);
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(await page.locator('#dashboard').textContent()).toBe('');
  });

  test('a running sign-in is cancelled by the next one, and when the page is left', async () => {
    await using visited = await visit('/docs/ops/#traffic');
    const { page } = visited;
    let isSlow = true;
    await page.route('**/docs/ops/caller/*', async (route) => {
      if (!isSlow) return route.continue();
      // Not answered, so it stays open until the page aborts it.
    });
    const startSignIn = async (): Promise<void> => {
      const requested = page.waitForRequest('**/docs/ops/caller/*');
      await enterToken(page, demo.consignmentsToken);
      await requested;
    };
    const waitForAbort = () =>
      page.waitForEvent('requestfailed', (request) => request.url().includes('/caller/'));
    await startSignIn();
    const abortByLeaving = waitForAbort();
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide')));
    await abortByLeaving;
    await startSignIn();
    const abortByNext = waitForAbort();
    isSlow = false;
    await enterToken(page, demo.adminToken);
    await abortByNext;
    await page.getByText('Signed in as').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(await page.locator('#sign-in-error').textContent()).toBe('');
  });

  test('every service has charts of its request rate, errors and p99', async () => {
    await using visited = await signedIn('traffic');
    const { page } = visited;
    await expect.poll(() => page.locator('.service .chart').count()).toBe(18);
    const labels = await page
      .locator('.service [role=img]')
      .evaluateAll((charts) => charts.map((chart) => chart.getAttribute('aria-label')));
    expect(labels).toHaveLength(18);
    for (const label of labels) expect(label).toMatch(/over the last 30 min: now /);
    await page
      .getByText(/^peak .+\/s$/)
      .first()
      .waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('the name of a chart without values says so', async () => {
    await using visited = await visit('/docs/ops/#traffic');
    const { page } = visited;
    await page.route('**/docs/ops/summary/*', (route) => route.abort());
    await enterToken(page, demo.adminToken);
    const p99 = page.getByRole('img', { name: 'p99 over the last 30 min: no values yet', exact: true });
    await expect.poll(() => p99.count()).toBe(6);
  });

  test('the content of a webhook is shown as text and never becomes markup', async () => {
    await using visited = await signedIn('webhooks');
    const { page } = visited;
    // No other test sends this event.
    await page.getByLabel('Event').selectOption('job_arrived');
    await page.locator('tbody tr', { hasText: 'job_arrived' }).getByRole('button').first().click();
    await page.getByText(marker).first().waitFor();
    const dialog = page.getByRole('dialog');
    const [body, headers] = [dialog.locator('pre').first(), dialog.locator('pre').last()];
    expect(await headers.textContent()).toContain('<script>alert(1)</script>');
    // Masked until it is revealed.
    expect(await body.textContent()).not.toContain(marker);
    await dialog.getByRole('button', { name: 'Reveal body' }).click();
    await expect.poll(() => body.textContent()).toContain('<script>alert(1)</script>');
    expect(await dialog.locator('img, script').count()).toBe(0);
    expect(visited.faults).toEqual([]);
    // The browser would also block a mistake in the page itself.
    const injection = await page.evaluate((text) => {
      try {
        document.body.innerHTML = text;
        return 'done';
      } catch (error) {
        return String(error);
      }
    }, hostile);
    expect(injection).toContain('TrustedHTML');
  });

  test('the list begins with the webhooks of all stores, and an address opens one of them', async () => {
    const headers = { Authorization: `Bearer ${demo.adminToken}` };
    const answer = await fetch(`${gateway}/v1/stores/${demo.store.id}/events?limit=1`, { headers });
    const { events } = (await answer.json()) as { events: { id: string }[] };
    await using visited = await signedIn(`webhooks?open=${events[0]?.id ?? ''}`);
    const { page } = visited;
    expect(await page.getByLabel('Store').inputValue()).toBe('-');
    await page
      .getByRole('dialog')
      .getByText(events[0]?.id ?? 'none')
      .waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('open=');
    await page.locator('th', { hasText: 'Store' }).waitFor();
  });

  test('a late response does not replace a later one', async () => {
    await using visited = await signedIn('webhooks');
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    // Other tests may add such webhooks.
    await page.route(/events\?.*payment-auth-completed/, async (route) => {
      const list = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...list, events: [] } });
    });
    const late = Promise.withResolvers<void>();
    await page.route(
      /events\?.*status=failed/,
      async (route) => {
        await late.promise;
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByLabel('Status').selectOption('failed');
    await page.getByLabel('Event').selectOption('payment-auth-completed');
    const newest = page.waitForResponse(/events\?(?!.*status=failed).*payment-auth-completed/);
    await page.getByLabel('Status').selectOption('');
    await (await newest).finished();
    await page.getByText('No webhook matches the filter.').waitFor();
    const answered = page.waitForResponse(/events\?.*status=failed/);
    late.resolve();
    await (await answered).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await page.getByText('No webhook matches the filter.').isVisible()).toBe(true);
  });

  test('a filter by an order number, which finds no webhook, links to Find', async () => {
    await using visited = await signedIn('webhooks');
    const { page } = visited;
    await page.getByLabel('About').fill('7007');
    await page.getByLabel('About').press('Enter');
    await page.getByText('To search by order number, use').getByRole('link', { name: 'Find' }).click();
    await page.waitForURL(/#find\?q=7007$/);
    expect(visited.faults).toEqual([]);
  });

  test('a refused webhook can be rechecked instead of replayed', async () => {
    await using visited = await signedIn('webhooks');
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    await page.route('**/events/*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...((await answer.json()) as object), status: 'refused' } });
    });
    await page.route('**/recheck', (route) => route.fulfill({ json: { status: 'refused' } }));
    await page.locator('tbody tr button').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Recheck' }).click();
    await dialog.getByText('The signature is still not valid.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Replay …' }).isVisible()).toBe(false);
  });

  test('the audit log says who did what and when', async () => {
    const change = await fetch(`${gateway}/v1/players/demo-3`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${demo.adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Ada' }),
    });
    expect(change.status).toBe(200);
    await using visited = await signedIn('ledger?playerId=demo-3');
    const row = visited.page.locator('tbody tr', { hasText: 'Changed the player: changed name' }).first();
    await row.getByText('demo-admin', { exact: true }).waitFor();
  });

  test('the result of a dry run is not covered by the actions', async () => {
    await using visited = await signedIn('webhooks', { viewport: { width: 390, height: 600 } });
    const { page } = visited;
    await page.locator('tbody tr button').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    const heading = dialog.getByText('A replay would …');
    await heading.waitFor();
    const bottom = async (): Promise<number> => {
      const [text, bar] = await Promise.all([
        heading.boundingBox(),
        page.locator('dialog > .actions').boundingBox(),
      ]);
      return (text?.y ?? 0) + (text?.height ?? 0) - (bar?.y ?? 0);
    };
    await expect.poll(bottom).toBeLessThanOrEqual(0);
  });

  test('an open round is listed, with its history', async () => {
    await using visited = await signedIn('rounds', phone);
    const { page } = visited;
    await page.getByLabel('Open for more than').selectOption('0');
    const row = page.locator('tbody tr', { hasText: roundId });
    await row.getByText('-2.50 EUR').waitFor();
    await page.getByRole('button', { name: roundId }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('tbody').getByText('-2.50 EUR').waitFor();
    expect(await dialog.locator('tbody tr').count()).toBe(1);
    expect(await dialog.locator('b').count()).toBe(0);
    expect(visited.faults).toEqual([]);
  });

  test('a round is found by its id, and an error is shown for one that does not exist', async () => {
    await using visited = await signedIn('rounds');
    const { page } = visited;
    for (const [id, text] of [
      [roundId, marker],
      ['../../audit/proof', 'Request '],
    ] as const) {
      await page.getByLabel('Player').fill('demo-1');
      await page.getByLabel('Round id').fill(id);
      await page.getByRole('button', { name: 'Open round' }).click();
      const match = page.getByRole('dialog').getByText(text).first();
      await match.waitFor();
      expect(await match.isVisible()).toBe(true);
      await page.keyboard.press('Escape');
    }
  });

  test('without a player, a round is searched for', async () => {
    await using visited = await signedIn('rounds');
    const { page } = visited;
    await page.getByLabel('Round id').fill(roundId);
    await page.getByRole('button', { name: 'Open round' }).click();
    const rounds = page.locator('section[aria-label=Rounds] tbody');
    await rounds.getByRole('link', { name: 'demo-1' }).waitFor();
    expect(page.url()).toContain('#find?');
  });

  test('the ledger is verified', async () => {
    await using visited = await signedIn('ledger');
    await visited.page.getByRole('button', { name: 'Verify the ledger' }).click();
    await visited.page.getByText('The ledger is consistent').waitFor();
    expect(visited.faults).toEqual([]);
  });
});
