import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { addPlayer, callback } from './api.ts';
import { hasBrowser, desktop, useBrowser } from './browser.ts';
import { signedIn } from './sign-in.ts';

useBrowser();

describe.runIf(hasBrowser)('the account summary on the operations page', () => {
  beforeAll(async () => {
    // No other test uses this currency.
    const playerId = await addPlayer('NOK');
    const transaction = { requestId: 'r', playerId, roundId: randomUUID() };
    const bet = { ...transaction, gameCode: 'dice-alpha', amount: '12.50' };
    const win = { ...transaction, gameId: 'dice-alpha', roundClosed: true, amount: '3.00' };
    const gift = { ...win, roundId: randomUUID(), amount: '5.00' };
    for (const [name, fields] of [
      ['debit', bet],
      ['credit', win],
      ['credit', gift],
    ] as const)
      await callback(name, { ...fields, transactionId: randomUUID() });
  });

  test('shows the balances before and after each day, and the changes', async () => {
    await using visited = await signedIn('money');
    const row = visited.page.locator('tbody tr', { hasText: 'NOK' }).last();
    await row.waitFor();
    const cells = await row.locator('td').allTextContents();
    expect(cells.slice(1).join(' ')).toBe(
      'NOK 0.00 12.50 8.00 5.00 0.00 4.50 100.00 0.00 0.00 95.50 incomplete',
    );
    expect(visited.faults).toEqual([]);
  });

  test('has the totals of all its days for each currency below the rows', async () => {
    for (const view of ['money', 'money?by=game']) {
      await using visited = await signedIn(view);
      const total = visited.page.locator('tfoot tr', { hasText: 'NOK' });
      await total.waitFor();
      const cells = (await total.locator('td').allTextContents()).filter((text) => text !== '–');
      expect(cells.join(' ')).toBe('Total NOK 0.00 12.50 8.00 5.00 0.00 4.50 100.00 0.00 0.00 95.50');
    }
  });

  test('keeps its rows when the totals cannot be read, and says so', async () => {
    await using visited = await signedIn('traffic');
    const { page } = visited;
    await page.route('**/v1/audit/summary?*limit=200*', (route) =>
      route.fulfill({ status: 503, json: { detail: 'The database is unavailable.', requestId: 'r-1' } }),
    );
    await page.evaluate(() => (location.hash = '#money'));
    await page
      .getByRole('alert')
      .getByText('The totals could not be loaded. The database is unavailable.')
      .waitFor();
    await page.locator('tbody tr', { hasText: 'NOK' }).last().waitFor();
    await page.unroute('**/v1/audit/summary?*limit=200*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('tfoot tr', { hasText: 'NOK' }).count()).toBe(1);
  });

  test('aligns amounts of several currencies at the decimal point', async () => {
    await addPlayer('CHF');
    await using visited = await signedIn('money', desktop);
    const { page } = visited;
    await page.locator('tfoot tr', { hasText: 'CHF' }).waitFor();
    const edges = await page
      .locator('tr > :nth-child(9) > .money')
      .evaluateAll((amounts) => amounts.map((amount) => amount.getBoundingClientRect().right));
    expect(edges.length).toBeGreaterThan(2);
    expect(Math.max(...edges) - Math.min(...edges)).toBeLessThan(1);
  });

  test.each([
    ['Today', '2026-03-02', '2026-03-02'],
    ['Yesterday', '2026-03-01', '2026-03-01'],
    ['This month', '2026-03-01', '2026-03-02'],
    ['Last month', '2026-02-01', '2026-02-28'],
  ])('has the days of %s in its address, as days of UTC', async (name, from, to) => {
    await using visited = await signedIn('traffic', { timezoneId: 'America/Los_Angeles' });
    const { page } = visited;
    // In the time zone of the reader it is still the day before.
    await page.clock.setFixedTime('2026-03-02T05:00:00.000Z');
    await page.evaluate(() => (location.hash = '#money'));
    await page.getByLabel('Days (UTC)').selectOption(name);
    await expect.poll(() => page.url()).toContain(`from=${from}&to=${to}`);
    expect(await page.getByLabel('Days (UTC)').inputValue()).toBe(name);
    expect(await page.getByLabel('First day').isVisible()).toBe(false);
  });

  test('shows fields for the two days when the address has days that no choice names', async () => {
    await using visited = await signedIn('money?from=2026-01-02&to=2026-01-03');
    const { page } = visited;
    expect(await page.getByLabel('Days (UTC)').inputValue()).toBe('Other days');
    expect(await page.getByLabel('First day').isVisible()).toBe(true);
  });

  test('can be grouped by game, which the address keeps', async () => {
    await using visited = await signedIn('money');
    const { page } = visited;
    await page.getByLabel('Group by').selectOption('game');
    const rows = page.locator('tbody tr', { hasText: 'NOK' });
    await expect
      .poll(async () => (await rows.locator('td:nth-child(2)').allTextContents()).toSorted())
      .toEqual(['dice-alpha', 'no game']);
    expect(page.url()).toContain('by=game');
  });

  test('can be downloaded, with the shown rows', async () => {
    await using visited = await signedIn('money?by=game');
    const { page } = visited;
    await page.locator('tbody tr').first().waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toMatch(/^summary-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
    const lines = (await readFile(await file.path(), 'utf8')).split('\r\n');
    expect(lines[0]).toContain('promotionalWins');
    expect(lines.some((line) => line.includes('NOK') && line.includes('dice-alpha'))).toBe(true);
  });

  test('shows the error of an invalid period', async () => {
    await using visited = await signedIn('money?from=2026-01-01&to=2026-03-01');
    await visited.page.getByText('choose at most 31 days').waitFor();
    expect(await visited.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });
});
