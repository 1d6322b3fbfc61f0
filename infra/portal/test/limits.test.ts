import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { addPlayer, send, callback, tokenWith } from './api.ts';
import { violations, hasBrowser, phone, useBrowser } from './browser.ts';
import { signedIn } from './sign-in.ts';

useBrowser();

let playerId: string;

describe.runIf(hasBrowser)('the limits of a player on the operations page', () => {
  beforeAll(async () => {
    playerId = await addPlayer('EUR', { timeZone: 'Europe/Berlin' });
    const path = `/v1/players/${playerId}`;
    await send('PUT', `${path}/limits`, { setBy: 'player', loss: { '24h': '50.00' }, sessionMinutes: 60 });
    await send('PUT', `${path}/limits`, { setBy: 'player', loss: { '24h': '80.00' }, sessionMinutes: 60 });
    const bet = { requestId: 'r', playerId, roundId: randomUUID(), gameCode: 'dice-alpha', amount: '12.50' };
    await callback('debit', { ...bet, transactionId: randomUUID() });
  });

  test('show their use, pending changes, the session and all changes', async () => {
    await using visited = await signedIn(`limits?playerId=${playerId}`, { bypassCSP: true });
    const { page } = visited;
    const row = async (table: string, text: string) => {
      const match = page.getByRole('table', { name: table }).locator('tbody tr', { hasText: text }).first();
      return await match.innerText();
    };
    const loss = await row('Limits in force', 'Losses in 24 hours');
    for (const value of ['50.00 EUR', '12.50 EUR', '37.50 EUR']) expect(loss).toContain(value);
    expect(await row('Limits in force', 'Session time')).toContain('60 min');
    expect(await row('Pending changes', 'Losses in 24 hours')).toContain('80.00 EUR');
    expect(await row('Changes of limits', '80.00')).toContain('player');
    await page.getByText('Months start at midnight in Europe/Berlin.').waitFor();
    await page.getByText('-12.50 EUR').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(visited.faults).toEqual([]);
  });

  test('are shown in the currency of the selected player', async () => {
    const other = await addPlayer('USD', {});
    await send('PUT', `/v1/players/${other}/limits`, { setBy: 'player', loss: { '24h': '777.00' } });
    await using visited = await signedIn(`limits?playerId=${playerId}`);
    const { page } = visited;
    const changes = page.getByRole('table', { name: 'Changes of limits' });
    await changes.getByText('80.00 EUR').waitFor();
    await page.getByLabel('Player', { exact: true }).fill(other);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('table', { name: 'Limits in force' }).getByText('777.00 USD').first().waitFor();
    await changes.getByText('777.00').waitFor();
    expect(await changes.innerText()).toContain('777.00 USD');
  });

  test('have a currency even if the token cannot read players', async () => {
    await using visited = await signedIn(`limits?playerId=${playerId}`, {}, await tokenWith('wallet:read'));
    const { page } = visited;
    const limits = page.getByRole('table', { name: 'Limits in force' });
    await limits.getByText('37.50 EUR').waitFor();
    await page.getByText('-12.50 EUR').waitFor();
    await page.getByRole('table', { name: 'Changes of limits' }).getByText('80.00 EUR').waitFor();
    expect(await page.locator('.view').getByText('wallet:admin').count()).toBe(0);
  });

  test('fit a phone, and say when a player is unknown', async () => {
    await using visited = await signedIn('limits?playerId=nobody', phone);
    const { page } = visited;
    await page.getByText('There is no such player.').first().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
  });
});
