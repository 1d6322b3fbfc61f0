import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { send, callback } from './api.ts';
import { hasBrowser, desktop, gateway, useBrowser, visit } from './browser.ts';
import { loaded, openView, signedIn, views } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const { demo } = stack;

// A group of controls has one Tab stop; arrow keys reach its other controls.
const controls =
  ':is(a[href], button:enabled, input:enabled, select:enabled, summary, [tabindex="0"]:not(dialog [tabindex="0"])):not([tabindex="-1"])';

/** Numbers all visible controls in the order of the page, and returns their count. */
const numberControls = (page: Page): Promise<number> =>
  page.evaluate((selector) => {
    const visible = [...document.querySelectorAll<HTMLElement>(selector)].filter((control) =>
      control.checkVisibility(),
    );
    for (const earlier of document.querySelectorAll('[data-stop]')) earlier.removeAttribute('data-stop');
    for (const [index, control] of visible.entries()) control.dataset['stop'] = String(index);
    return visible.length;
  }, controls);

/** The number of the focused control, and its outline. */
const focusedControl = (page: Page): Promise<{ stop: number; outline: string }> =>
  page.evaluate(() => {
    const { activeElement } = document;
    const stop = activeElement instanceof HTMLElement ? Number(activeElement.dataset['stop'] ?? -1) : -1;
    return { stop, outline: getComputedStyle(activeElement ?? document.body).outline };
  });

/** Presses a key until another control has the focus: a date field has several parts. */
const pressUntilNext = async (page: Page, key: 'Tab' | 'Shift+Tab'): Promise<number> => {
  const before = await focusedControl(page);
  for (let part = 0; part < 9; part++) {
    await page.keyboard.press(key);
    const { stop, outline } = await focusedControl(page);
    if (stop === before.stop) continue;
    if (stop !== -1)
      expect({ stop, outline }).toEqual({ stop, outline: expect.stringContaining('solid 2px') });
    return stop;
  }
  return before.stop;
};

/** Presses of Tab from the start of the page to its first row, or past a row without controls; 1 without rows. */
const stopsToFirstRow = async (page: Page): Promise<number> => {
  // The first Tab of a page reaches the skip link.
  await page.locator('.skip').focus();
  for (let stops = 1; stops < 60; stops++) {
    const isReached = await page.evaluate(() => {
      const row = document.querySelector('.view tbody tr');
      const { activeElement } = document;
      if (row === null) return true;
      // After the last control of a page, the focus moves to the browser.
      if (activeElement === null || activeElement === document.body) return true;
      const position = row.compareDocumentPosition(activeElement);
      return (position & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)) > 0;
    });
    if (isReached) return stops;
    await page.keyboard.press('Tab');
  }
  return Number.POSITIVE_INFINITY;
};

const focusedText = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? '');
const isIn = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate((within) => Boolean(document.activeElement?.closest(within)), selector);

const hook = (event: string, body: string, token = demo.store.webhookToken) =>
  fetch(`${gateway}/api/v1/hooks/${event}/${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });

describe.runIf(hasBrowser)('the operations page with a keyboard', () => {
  beforeAll(async () => {
    for (let order = 0; order < 75; order++)
      await hook('order_updated', JSON.stringify({ id: `keyboard-${order}`, status: 'A' }));
    await hook('order_updated', '{"id":');
    await callback('debit', {
      requestId: 'r',
      playerId: 'demo-1',
      roundId: 'keyboard',
      gameCode: 'dice-alpha',
      amount: '1.00',
      transactionId: crypto.randomUUID(),
    });
  });

  test('Tab reaches every control of every view in the order of the page and leaves it again; the first row is at most 15 presses away', async () => {
    const more = [
      'players?playerId=demo-1',
      'limits?playerId=demo-1',
      'find?q=demo-1',
      'settings?of=games',
      'rounds?olderThan=0',
      'settings?of=keys',
    ];
    await using visited = await signedIn('', { ...desktop, timezoneId: 'Asia/Kolkata' });
    const { page } = visited;
    // No other mail may arrive during the test.
    const mail = {
      id: 'm',
      to: 'a@example.test',
      subject: 'Hello',
      receivedAt: '2030-01-01T00:00:00Z',
      text: '',
    };
    await page.route('**/docs/ops/mails', (route) => route.fulfill({ json: { mails: [mail] } }));
    for (const view of [...views, ...more]) {
      await openView(page, view);
      await loaded(page);
      expect(await stopsToFirstRow(page), view).toBeLessThanOrEqual(15);
      const count = await numberControls(page);
      await page.locator('[data-stop="0"]').focus();
      const forward = [];
      for (let stop = 1; stop < count; stop++) forward.push(await pressUntilNext(page, 'Tab'));
      expect(forward, view).toEqual(Array.from({ length: count - 1 }, (_, index) => index + 1));
      const back = [await pressUntilNext(page, 'Shift+Tab'), await pressUntilNext(page, 'Shift+Tab')];
      expect(back, view).toEqual([count - 2, count - 3]);
      await page.locator(`[data-stop="${count - 1}"]`).focus();
      expect(await pressUntilNext(page, 'Tab'), view).not.toBe(count - 1);
    }
  });

  test('the skip link leads past the header to the first row, and keeps the view', async () => {
    await using visited = await signedIn('webhooks', desktop);
    const { page } = visited;
    await loaded(page);
    await page.locator('.skip').press('Enter');
    expect(await isIn(page, '.view tbody tr')).toBe(true);
    expect(page.url()).toContain('#webhooks');
  });

  test('arrow keys, Home and End move between the views, which are one Tab stop', async () => {
    await using visited = await signedIn('webhooks', desktop);
    const { page } = visited;
    await loaded(page);
    await page.getByRole('link', { name: 'Webhooks' }).focus();
    const after = async (key: string): Promise<string> => {
      await page.keyboard.press(key);
      return focusedText(page);
    };
    expect(await after('ArrowRight')).toBe('Rounds');
    expect(await after('ArrowLeft')).toBe('Webhooks');
    expect(await after('End')).toBe('Mailbox');
    expect(await after('ArrowRight')).toBe('Find');
    expect(await after('Home')).toBe('Find');
    expect(await after('ArrowRight')).toBe('Traffic');
    await page.keyboard.press('Tab');
    expect(await isIn(page, '.views')).toBe(false);
    await page.keyboard.press('Shift+Tab');
    expect(await focusedText(page)).toBe('Traffic');
    await page.keyboard.press('Enter');
    await page.locator('section[aria-label=Traffic]').waitFor();
    await page.getByRole('toolbar', { name: 'Session' }).getByRole('button').first().focus();
    expect(await after('ArrowRight')).toBe('Sign out');
    await page.getByRole('link', { name: 'Guides' }).focus();
    expect(await after('ArrowRight')).toBe('Reference');
  });

  test('Enter in the field signs in, and signing out returns to the field', async () => {
    await using visited = await visit('/docs/ops/');
    const { page } = visited;
    await page.keyboard.insertText(demo.adminToken);
    await page.keyboard.press('Enter');
    await expect.poll(() => focusedText(page)).toBe('Operations');
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('token');
  });

  test.each([
    ['a webhook', 'webhooks', 'tbody tr:nth-child(3) button'],
    ['a round', 'rounds?olderThan=0', 'tbody tr:nth-child(1) button'],
    ['the replay of many', `webhooks?store=${demo.store.id}`, '.filters button'],
  ])('Enter opens %s, Tab stays in the dialog, and Escape returns the focus', async (_name, view, opener) => {
    await using visited = await signedIn(view, desktop);
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    const text = await page.locator(opener).first().textContent();
    await page.locator(opener).first().press('Enter');
    await page.getByRole('dialog').waitFor();
    await loaded(page);
    let stopsInside = 0;
    for (let press = 0; press < 20; press++) {
      await page.keyboard.press('Tab');
      // After the last control of a dialog, the focus moves to the browser, and the page has none.
      expect(await isIn(page, 'dialog, body:focus-within:not(:has(:focus)), html:not(:has(:focus))')).toBe(
        true,
      );
      if (await isIn(page, 'dialog')) stopsInside += 1;
    }
    expect(stopsInside).toBeGreaterThan(0);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await focusedText(page)).toBe(text);
  });

  test('after a replay, which reloads the list, Escape returns the focus to the same webhook', async () => {
    // A separate store, because webhooks of the demo store may wait for its POS.
    const body = { name: 'Keyboards', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } };
    const created = await send('POST', '/v1/stores', body);
    const store = (await created.json()) as { id: string; webhookToken: string };
    await hook('order_updated', '{"id":', store.webhookToken);
    await using visited = await signedIn(`webhooks?store=${store.id}`, desktop);
    const { page } = visited;
    const opener = page.locator('tbody tr button').first();
    await loaded(page);
    const key = await opener.getAttribute('data-key');
    await opener.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Replay …' }).press('Enter');
    expect(await focusedText(page)).toBe('Cancel');
    await page.keyboard.press('Enter');
    expect(await focusedText(page)).toBe('Replay …');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Replay now' }).focus();
    const again = page.waitForResponse('**/events?**');
    await page.keyboard.press('Enter');
    await dialog.getByText(/^It failed again/).waitFor();
    expect(await focusedText(page)).toBe('Replay …');
    await (await again).finished();
    await loaded(page);
    await page.keyboard.press('Escape');
    const focusedKey = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset['key']);
    await expect.poll(focusedKey).toBe(key);
  });

  test('the focus stays in a dialog when its button disappears', async () => {
    await using visited = await signedIn('webhooks', desktop);
    const { page } = visited;
    await page.locator('tbody tr button').first().press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Reveal body' }).press('Enter');
    await expect.poll(() => dialog.getByText('Revealing the body is recorded').count()).toBe(0);
    expect(await isIn(page, 'dialog')).toBe(true);
  });

  test('the focus stays on the button when another page of a list is loaded', async () => {
    await using visited = await signedIn('webhooks', desktop);
    const { page } = visited;
    await page.getByRole('button', { name: 'Older' }).press('Enter');
    await page.getByText('Page 2').waitFor();
    await expect.poll(() => focusedText(page)).toBe('Older');
  });

  test('after an error, Enter tries again, and the focus stays in the list', async () => {
    await using visited = await signedIn('rounds', desktop);
    const { page } = visited;
    await loaded(page);
    await page.route(
      '**/v1/rounds?**',
      (route) => route.fulfill({ status: 503, json: { detail: 'Busy.' } }),
      {
        times: 1,
      },
    );
    await page.getByLabel('Open for more than').selectOption('0');
    await page.getByRole('button', { name: 'Try again' }).press('Enter');
    await page.locator('tbody tr').first().waitFor();
    expect(await isIn(page, '.list')).toBe(true);
  });

  test('a link in a view moves the focus to the start of the next view', async () => {
    await using visited = await signedIn('find?q=demo-1', desktop);
    const { page } = visited;
    await page.locator('section[aria-label=Players] tbody a').first().press('Enter');
    await page.locator('section[aria-label=Players] form').waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Players');
    expect(await page.title()).toBe('Players · Operations · Platform');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
  });

  test('Enter searches, and the focus stays in the search field', async () => {
    await using visited = await signedIn('traffic', desktop);
    const { page } = visited;
    await page.getByRole('searchbox', { name: 'Find' }).fill('demo-1');
    await page.keyboard.press('Enter');
    await page.locator('section[aria-label=Players]').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('find');
  });
});
