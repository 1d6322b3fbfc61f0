import { randomUUID } from 'node:crypto';
import { testLimits } from '@platform/local/test-limits';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { pageFaults, noFaults, hasBrowser, desktop, gateway, phone, useBrowser, visit } from './browser.ts';
import { addPlayer, send, callback } from './api.ts';
import { enterToken, signedIn, useSharedPage } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const { demo } = stack;

const run = randomUUID().slice(0, 8);
const ids = {
  order: `o-${run}`,
  number: `No. ${run}`,
  member: `m-${run}`,
  job: `j-${run}`,
  payment: `p-${run}`,
  request: `request-${run}`,
  round: `round/${run}`,
  debit: `t-${run}`,
  refused: `refused/<b>${run}`,
};

/** A player with 100.00 EUR and refused bets. */
let player = '';

const hook = (event: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${gateway}/api/v1/hooks/${event}/${demo.store.webhookToken}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    // The response to a challenge is a redirect to the shop.
    redirect: 'manual',
  });

const asAdmin = (path: string, init: RequestInit = {}) =>
  fetch(gateway + path, {
    ...init,
    headers: { Authorization: `Bearer ${demo.adminToken}`, 'Content-Type': 'application/json' },
  });

/** Waits for the results and returns the names of their groups. */
const resultGroups = async (page: Page): Promise<string[]> => {
  await page.locator('section[aria-label=Find] h2, section[aria-label=Find] .note').first().waitFor();
  return page.locator('section[aria-label=Find] h2').allTextContents();
};

const find = async (page: Page, text: string): Promise<string[]> => {
  await page.getByRole('searchbox', { name: 'Find' }).fill(text);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain('#find?');
  return resultGroups(page);
};

describe.runIf(hasBrowser)('finding by an id', () => {
  beforeAll(async () => {
    const order = { id: ids.order, orderNo: ids.number, status: 'A', consumerId: ids.member };
    await hook('order_updated', { ...order, cart: { items: [] } }, { 'X-Request-Id': ids.request });
    await hook('new_member', { id: ids.member, email: `${run}@example.test`, firstName: 'Hidden' });
    await hook('job_started', { id: ids.job, orderId: ids.order });
    const payment = { service: 'threedsecureio', transactionId: ids.payment, orderId: ids.order };
    const body = JSON.stringify(payment);
    await asAdmin(`/v1/stores/${demo.store.id}/payments`, { method: 'POST', body });
    const transaction = { requestId: 'r', playerId: 'demo-1', roundId: ids.round };
    await callback('debit', {
      ...transaction,
      gameCode: 'dice-alpha',
      amount: '1.00',
      transactionId: ids.debit,
    });
    await callback('rollback', {
      ...transaction,
      gameId: 'dice-alpha',
      roundClosed: false,
      transactionId: `${ids.debit}-r`,
      reverseTransactionId: ids.debit,
    });
    player = await addPlayer('EUR');
    await send('PUT', `/v1/players/${player}/limits`, { setBy: 'player', loss: { '24h': '12.00' } });
    const bet = { ...transaction, playerId: player, roundId: ids.refused, gameCode: 'dice-alpha' };
    for (const [name, amount] of Object.entries({ large: '100.01', limited: '12.01', wrong: '1e3' }))
      await callback('debit', { ...bet, transactionId: `${name}-${run}`, amount });
    await callback('balance', { requestId: 'r', playerId: `nobody-${run}` });
    const challenge = { threeDSServerTransID: ids.payment, messageType: 'CRes', transStatus: 'Y' };
    const cres = Buffer.from(JSON.stringify(challenge)).toString('base64url');
    await hook('payment-auth-completed/threedsecureio', { ...payment, cres });
    const job = `/v1/stores/${demo.store.id}/delivery-jobs/${ids.job}`;
    await vi.waitUntil(async () => (await asAdmin(job)).ok, testLimits.expect.poll);
  });

  describe('on one page', () => {
    const show = useSharedPage();

    test.each([
      ['the id of an order', ids.order, ['Orders', 'Delivery jobs', 'Payments', 'Webhooks', 'Notifications']],
      ['the number of an order', ids.number, ['Orders']],
      ['a member', ids.member, ['Orders', 'Members', 'Webhooks', 'Notifications']],
      ['a job', ids.job, ['Delivery jobs', 'Webhooks', 'Notifications']],
      ['a payment', ids.payment, ['Payments', 'Webhooks']],
      ['a request', ids.request, ['Webhooks']],
      ['an unknown player', `nobody-${run}`, ['Refused callbacks']],
      ['a refused round', ids.refused, ['Refused callbacks']],
      ['a round', ids.round, ['Rounds']],
      ['a transaction', ids.debit, ['Ledger entries']],
    ])('by %s shows the results of all services', async (_idType, text, expected) => {
      expect(await find(await show('traffic'), text)).toEqual(expected);
    });

    test.each([
      ['a bet that exceeds the balance', 'large', '100.01 EUR', 'Not enough money: 100.00 EUR left'],
      ['a bet beyond a limit', 'limited', '12.01 EUR', 'Losses in 24 hours: 12.00 EUR left of 12.00 EUR'],
      ['a bet with a wrong syntax', 'wrong', '', 'Wrong syntax: amount is missing or invalid'],
    ])(
      '%s is found by its transaction, with the cause and the remaining amount',
      async (_case, name, amount, cause) => {
        const page = await show('traffic');
        expect(await find(page, `${name}-${run}`)).toEqual(['Refused callbacks']);
        const row = page.getByRole('table', { name: 'Refused callbacks' }).locator('tbody tr');
        expect(await row.count()).toBe(1);
        for (const text of ['debit', amount, cause, player, ids.refused])
          await expect.poll(() => row.textContent()).toContain(text);
      },
    );

    test('the view of a player has refused callbacks and entries, and a link leads to all refused callbacks', async () => {
      for (let bets = 0; bets < 4; bets++)
        await callback('debit', {
          requestId: 'r',
          playerId: player,
          roundId: ids.refused,
          gameCode: 'no-game',
          amount: '1.00',
          transactionId: randomUUID(),
        });
      const page = await show(`find?q=${player}`);
      expect(await resultGroups(page)).toEqual(['Players', 'Refused callbacks']);
      await page.locator('section[aria-label=Players]').getByRole('link', { name: player }).click();
      const refusals = page.getByRole('table', { name: 'Refused callbacks' }).locator('tbody tr');
      await page.getByRole('table', { name: 'Entries' }).getByText('100.00 EUR').first().waitFor();
      await expect.poll(() => refusals.count()).toBe(5);
      await page.getByRole('link', { name: 'All refused callbacks' }).click();
      await expect.poll(() => refusals.count()).toBe(7);
      await page.getByLabel('Cause').selectOption('Wrong syntax');
      await expect.poll(() => refusals.count()).toBe(1);
      await refusals.getByRole('link', { name: ids.refused }).click();
      await page.getByRole('dialog').getByText('Wrong syntax: amount').first().waitFor();
    });

    // Each path starts with a search for an id and leads through a link to a group of results with another id.
    test.each([
      ['an order to its events', ids.order, 'Webhooks', 'order:', 'dialog', ids.order],
      ['an event to its order', ids.request, 'Webhooks', `order:${ids.order}`, 'Orders', ids.order],
      ['an order to its member', ids.order, 'Orders', ids.member, 'Members', ids.member],
      ['an order to its jobs', ids.order, 'Delivery jobs', ids.job, 'Delivery jobs', ids.job],
      ['an order to its payments', ids.order, 'Payments', ids.payment, 'Payments', ids.payment],
      ['a job to its order', ids.job, 'Delivery jobs', ids.order, 'Orders', ids.order],
      ['a payment to its order', ids.payment, 'Payments', ids.order, 'Orders', ids.order],
      ['a notification to its order', ids.order, 'Notifications', ids.order, 'Orders', ids.order],
      ['a transaction to its player', ids.debit, 'Ledger entries', 'demo-1', 'player', ids.round],
      ['a transaction to its round', ids.debit, 'Ledger entries', ids.round, 'dialog', ids.debit],
      ['a round to its player', ids.round, 'Rounds', 'demo-1', 'player', ids.round],
      ['a round to its transactions', ids.round, 'Rounds', ids.round, 'dialog', ids.debit],
      ['a player to entries and rounds', 'demo-1', 'Players', 'demo-1', 'player', ids.debit],
    ])('a link leads from %s', async (_path, searchedId, group, link, target, targetId) => {
      const page = await show(`find?q=${encodeURIComponent(searchedId)}`);
      await resultGroups(page);
      const source = page.locator(`section[aria-label="${group}"]`);
      // The link of a webhook is its time.
      const first =
        link === 'order:' ? source.locator('tbody a') : source.getByRole('link', { name: link, exact: true });
      await first.first().click();
      const selectors = { dialog: 'dialog', player: 'section[aria-label=Players]' } as Record<string, string>;
      const destination = page.locator(selectors[target] ?? `section[aria-label="${target}"]`);
      const links = destination.getByRole('link', { name: targetId, exact: true });
      await expect.poll(() => links.count()).toBeGreaterThan(0);
    });

    test.each([
      ['member', ids.member, 'Members'],
      ['job', ids.job, 'Delivery jobs'],
      ['payment', ids.payment, 'Payments'],
      ['order', ids.order, 'Notifications'],
    ])(
      'an event has links to its %s and to its notifications, which link to the event',
      async (kind, id, group) => {
        const page = await show(`find?q=${id}`);
        await resultGroups(page);
        const eventRow = page
          .locator('section[aria-label=Webhooks] tbody tr', { hasText: `${kind}:${id}` })
          .first();
        await eventRow.locator('a').first().click();
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('link', { name: `${kind}:${id}` }).click();
        const links = page.locator(`section[aria-label="${group}"] tbody`).getByRole('link', { name: id });
        await expect.poll(() => links.count()).toBeGreaterThan(0);
        if (kind === 'payment') return;
        await page
          .locator('section[aria-label=Notifications] tbody')
          .getByRole('link', { name: 'Open' })
          .first()
          .click();
        await dialog.getByRole('link', { name: `${kind}:${id}` }).waitFor();
      },
    );
  });

  test('links lead from the order to its event and back', async () => {
    await using visited = await signedIn(`find?q=${ids.request}`);
    const { page } = visited;
    await resultGroups(page);
    await page.locator('section[aria-label=Webhooks] tbody a').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Related' }).waitFor();
    await dialog.getByRole('link', { name: ids.order }).first().click();
    await expect.poll(() => resultGroups(page)).toContain('Orders');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('link', { name: ids.member }).first().click();
    await expect.poll(() => resultGroups(page)).toContain('Members');
    // Personal data is not shown.
    expect(await page.locator('main').textContent()).not.toContain('Hidden');
  });

  test('links lead from an entry to its round, to the player and to the audit log of the player', async () => {
    await using visited = await signedIn(`find?q=${ids.debit}`);
    const { page } = visited;
    expect(await resultGroups(page)).toEqual(['Ledger entries']);
    expect(await page.locator('tbody tr').count()).toBe(2);
    await page.getByRole('link', { name: ids.round }).first().click();
    await page.getByRole('dialog').getByText('-1.00').waitFor();
    await page.goBack();
    await resultGroups(page);
    await page.getByRole('link', { name: 'demo-1' }).first().click();
    await page.locator('section[aria-label=Players]').getByRole('link', { name: 'Audit log' }).click();
    await page.locator('section[aria-label=Ledger]').waitFor();
    expect(await page.getByLabel('Player', { exact: true }).inputValue()).toBe('demo-1');
  });

  test('a search without results says so, and hostile text is shown as text', async () => {
    await using visited = await signedIn('find');
    const { page } = visited;
    for (const text of ['<img src=x onerror=alert(1)>', '../../audit/proof', '..', '%00', 'a'.repeat(255)]) {
      await page.getByRole('searchbox', { name: 'Find' }).fill(text);
      await page.keyboard.press('Enter');
      await page.getByText('Nothing has the id').waitFor();
      await page.getByText(text).first().waitFor();
    }
    expect(await page.locator('main img').count()).toBe(0);
    expect(visited.faults).toEqual([]);
  });

  test('a search with a token without scopes finds nothing and lists the missing scopes', async () => {
    await using visited = await visit(`/docs/ops/#find?q=${ids.order}`);
    await enterToken(visited.page, demo.consignmentsToken);
    const notes = visited.page.locator('section[aria-label=Find] .note');
    await notes.first().waitFor();
    const text = (await notes.allTextContents()).join(' ');
    for (const scope of ['stores:read', 'events:read', 'wallet:read', 'wallet:admin'])
      expect(text).toContain(scope);
    expect(await visited.page.locator('section[aria-label=Find] h2').count()).toBe(0);
  });

  test('when a service is unavailable, the others are searched', async () => {
    await using visited = await visit('/docs/ops/#find?q=demo-1');
    const { page } = visited;
    const body = JSON.stringify({ detail: 'The database is unavailable.' });
    await page.route('**/v1/stores/**', (route) => route.fulfill({ status: 503, body }));
    await enterToken(page, demo.adminToken);
    expect(await resultGroups(page)).toContain('Players');
    expect(await page.getByText('The database is unavailable.').count()).toBe(1);
  });

  test('while a service does not answer, the search names it', async () => {
    await using visited = await visit(`/docs/ops/#find?q=${ids.order}`);
    const { page } = visited;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/v1/rounds?*', (route) => released.then(() => route.continue()));
    await enterToken(page, demo.adminToken);
    await page.getByText(/^Still waiting for (?:.* and )?wallet-operator …$/).waitFor();
    release();
    expect(await resultGroups(page)).toContain('Orders');
  });

  test('a search that a service could not answer can be repeated', async () => {
    await using visited = await visit(`/docs/ops/#find?q=${ids.order}`);
    const { page } = visited;
    const problem = page.getByText('Not everything was searched: The database is unavailable.');
    await page.route('**/v1/stores/**', (route) =>
      route.fulfill({ status: 503, json: { detail: 'The database is unavailable.' } }),
    );
    await enterToken(page, demo.adminToken);
    await problem.waitFor();
    await page.unroute('**/v1/stores/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await problem.waitFor({ state: 'detached' });
    expect(await resultGroups(page)).toContain('Orders');
    expect(visited.faults).toEqual([]);
  });

  test('the results have no axe violation and fit a phone and a desktop, in light and dark mode', async () => {
    const look = { ...phone, bypassCSP: true, reducedMotion: 'reduce' } as const;
    await using visited = await signedIn(`find?q=${ids.order}`, look);
    const { page } = visited;
    await resultGroups(page);
    for (const { viewport } of [phone, desktop]) {
      await page.setViewportSize(viewport);
      expect(await pageFaults(page)).toEqual(noFaults);
    }
  });
});
