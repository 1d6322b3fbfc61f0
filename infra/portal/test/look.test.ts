import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { send, callback } from './api.ts';
import { pageFaults, noFaults, hasBrowser, desktop, gateway, phone, useBrowser, visit } from './browser.ts';
import { enterToken, loaded, signedIn } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const { demo } = stack;

const longId = `look-${crypto.randomUUID()}-${crypto.randomUUID()}`;

/** A separate store, because other test files send webhooks to the demo store at the same time. */
let store: { id: string; webhookToken: string };
const webhooks = (): string => `webhooks?store=${store.id}`;

const hook = (body: object) =>
  fetch(`${gateway}/api/v1/hooks/order_updated/${store.webhookToken}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const focusedRow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const row = document.activeElement?.closest('tbody tr');
    return row ? [...(row.parentElement?.children ?? [])].indexOf(row) : -1;
  });

describe.runIf(hasBrowser)('the look of the operations page', () => {
  beforeAll(async () => {
    const body = { name: 'Look', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } };
    store = (await (await send('POST', '/v1/stores', body)).json()) as typeof store;
    for (let order = 0; order < 30; order++) await hook({ id: `${order}-${longId}`, status: order % 2 });
    await send('PATCH', '/v1/players/demo-3', { name: 'Ada' });
    await callback('debit', {
      requestId: 'r',
      playerId: 'demo-1',
      roundId: `look-${crypto.randomUUID()}`,
      gameCode: 'dice-alpha',
      amount: '1.00',
      transactionId: crypto.randomUUID(),
    });
  });

  test('the link of the open view is visible on a phone', async () => {
    await using visited = await signedIn('settings', phone);
    const link = visited.page.getByRole('link', { name: 'Settings', exact: true });
    await expect.poll(async () => (await link.boundingBox())?.x).toBeLessThan(phone.viewport.width);
  });

  test('25 webhooks with long ids and errors are at most 1,100 pixels high, each in one line', async () => {
    await using visited = await signedIn(webhooks(), desktop);
    const { page } = visited;
    await expect.poll(() => page.locator('tbody tr').count()).toBe(25);
    expect((await page.locator('table').boundingBox())?.height).toBeLessThanOrEqual(1100);
    const heights = await page
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBe(Math.min(...heights));
  });

  test('numbers of a player’s entries are in one line', async () => {
    await using visited = await signedIn('players?playerId=demo-1', desktop);
    const { page } = visited;
    await page.route('**/entries?**', async (route) => {
      const answer = (await (await route.fetch()).json()) as { entries: object[] };
      await route.fulfill({
        json: { ...answer, entries: answer.entries.map((entry) => ({ ...entry, seq: 123_456_789 })) },
      });
    });
    await page.reload();
    await enterToken(page, demo.adminToken);
    const cell = page.getByRole('cell', { name: '123456789' }).first();
    expect((await cell.boundingBox())?.height).toBeLessThan(45);
  });

  test('the state of the platform is one line, which opens on demand', async () => {
    await using visited = await signedIn('ledger', desktop);
    const { page } = visited;
    await loaded(page);
    const strip = page.getByRole('region', { name: 'Health' });
    expect((await strip.boundingBox())?.height).toBeLessThanOrEqual(40);
    expect(await strip.getByText('Mail queue').isVisible()).toBe(false);
    await strip.locator('summary').press('Enter');
    await strip.getByText('Mail queue').waitFor();
  });

  test('a text that is cut off is the tooltip of its cell', async () => {
    await using visited = await signedIn(webhooks(), desktop);
    const { page } = visited;
    const cell = page.locator('td', { hasText: longId }).first();
    await cell.hover();
    expect(await cell.getAttribute('title')).toContain(longId);
    const short = page.locator('td', { hasText: 'order_updated' }).first();
    await short.hover();
    expect(await short.getAttribute('title')).toBe('');
  });

  test('an id is copied with its button, and its row does not open', async () => {
    await using visited = await signedIn(webhooks(), {
      ...desktop,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page } = visited;
    await page.getByRole('button', { name: `Copy 29-${longId}` }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`29-${longId}`);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('a click anywhere on a row opens its webhook, but a selection of text does not', async () => {
    await using visited = await signedIn(webhooks(), desktop);
    const { page } = visited;
    const status = page.locator('tbody tr').nth(2).locator('.state');
    await status.waitFor();
    await page.evaluate(() => {
      const cell = document.querySelector('tbody tr td:nth-child(2)');
      if (cell) getSelection()?.selectAllChildren(cell);
      (cell as HTMLElement).click();
    });
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await status.click();
    await page.getByRole('dialog').getByText('Attempts').waitFor();
  });

  test('j and k move through the rows, Enter opens one, and / leads to Find', async () => {
    await using visited = await signedIn(webhooks(), desktop);
    const { page } = visited;
    await loaded(page);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await focusedRow(page)).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Attempts').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await expect.poll(() => focusedRow(page)).toBe(1);
    await page.keyboard.press('/');
    await page.keyboard.type('jk/');
    expect(await page.getByRole('searchbox', { name: 'Find' }).inputValue()).toBe('jk/');
  });

  test('letters are not shortcuts after they were turned off', async () => {
    await using visited = await signedIn(webhooks(), desktop);
    const { page } = visited;
    await loaded(page);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('turn off');
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
    expect(await focusedRow(page)).toBe(-1);
  });

  test('Ctrl-K opens commands, which lead to views, stores and players without a mouse', async () => {
    await using visited = await signedIn('ledger', desktop);
    const { page } = visited;
    await loaded(page);
    for (const [text, option, address] of [
      ['evid', 'EvidenceView', '#evidence'],
      ['demo shop', 'Demo shopStore', `#webhooks?store=${demo.store.id}`],
      ['demo-2', 'demo-2Player', '#players?playerId=demo-2'],
      ['no <b>such</b>', 'no <b>such</b>Find', '#find?q='],
    ] as const) {
      await page.keyboard.press('Control+k');
      const field = page.getByRole('combobox', { name: 'View, store, player or action' });
      await field.fill(text);
      const selected = page.locator('[role=option][aria-selected=true]');
      await expect.poll(() => selected.textContent()).toBe(option);
      expect(await field.getAttribute('aria-activedescendant')).toBe(await selected.getAttribute('id'));
      await page.keyboard.press('Enter');
      await expect.poll(() => page.url()).toContain(address);
      await page.locator('.view section').waitFor();
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(visited.faults).toEqual([]);
  });

  test('without scopes, only working commands are offered, such as sign out', async () => {
    await using visited = await visit('/docs/ops/#ledger', desktop);
    const { page } = visited;
    await enterToken(page, demo.consignmentsToken);
    await page.getByRole('button', { name: 'Commands' }).click();
    await page.keyboard.type('sign out');
    await page.keyboard.press('Enter');
    await page.getByLabel('Access token').waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('the commands have no axe violation and fit a phone and a desktop, in light and dark mode', async () => {
    await using visited = await signedIn('ledger', { ...phone, bypassCSP: true, reducedMotion: 'reduce' });
    const { page } = visited;
    await loaded(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Demo shop' }).first().waitFor();
    for (const { viewport } of [phone, desktop]) {
      await page.setViewportSize(viewport);
      expect(await pageFaults(page)).toEqual(noFaults);
    }
  });
});
