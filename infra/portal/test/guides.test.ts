import { describe, expect, test } from 'vitest';
import { pageFaults, noFaults, hasBrowser, desktop, phone, useBrowser, visit } from './browser.ts';

useBrowser();

describe.runIf(hasBrowser)('the guides of the portal', () => {
  test('a guide is found by words of its text, and read without leaving the gateway', async () => {
    await using visited = await visit('/docs/guides/');
    const { page } = visited;
    await page.getByLabel('Search the guides').fill('replay dryrun');
    await page.getByRole('link', { name: 'Store webhooks: Replaying failed events' }).click();
    await page.getByRole('heading', { name: 'Replaying failed events' }).waitFor();
    expect(page.url()).toContain('/docs/guides/store-webhooks/#replaying-failed-events');
    await page.getByRole('link', { name: 'Wallet operator', exact: true }).click();
    await page.getByRole('heading', { name: 'Wallet operator', level: 1 }).waitFor();
    expect(visited.outside).toEqual([]);
    expect(visited.faults).toEqual([]);
  });

  test('when the guides could not be loaded, the next search loads them', async () => {
    await using visited = await visit('/docs/guides/');
    const { page } = visited;
    await page.route('**/guides.json', (route) => route.fulfill({ status: 503, body: '{}' }), { times: 1 });
    await page.getByLabel('Search the guides').fill('replay');
    await page.getByText('The guides cannot be loaded. Type again to try again.').waitFor();
    await page.getByLabel('Search the guides').fill('replay dryrun');
    await page.getByRole('link', { name: 'Store webhooks: Replaying failed events' }).waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('guides come before contracts and decisions in the results of a search', async () => {
    await using visited = await visit('/docs/guides/');
    const { page } = visited;
    await page.getByLabel('Search the guides').fill('database unavailable');
    const links = page.locator('#results a');
    await links.first().waitFor();
    const addresses = await links.evaluateAll((elements) =>
      elements.map((link) => link.getAttribute('href') ?? ''),
    );
    const decisions = addresses.map((address) => /^\/docs\/guides\/(?:adr|contracts)\//.test(address));
    expect(decisions).toContain(true);
    expect(decisions.lastIndexOf(false)).toBeLessThan(decisions.indexOf(true));
  });

  test('a search without results says so', async () => {
    await using visited = await visit('/docs/guides/wallet-operator/');
    await visited.page.getByLabel('Search the guides').fill('<img src=x> zebra');
    await visited.page.getByText('Nothing contains “<img src=x> zebra”.').waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('the contents stay beside the text, a heading is a link to itself, and code is copied', async () => {
    await using visited = await visit('/docs/guides/wallet-operator/', {
      ...desktop,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page } = visited;
    const link = page.locator('.on-page').getByRole('link', { name: 'First calls' });
    expect(await link.isVisible()).toBe(true);
    await page.evaluate(() => scrollTo(0, 4000));
    expect(await link.isVisible()).toBe(true);
    const box = await page.locator('.contents').boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    await page.getByRole('heading', { name: 'First calls' }).getByRole('link').click();
    expect(page.url()).toMatch(/#first-calls$/);
    await page.getByRole('button', { name: 'Copy the code' }).first().click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('URL=$(node');
    expect(visited.faults).toEqual([]);
  });

  test.each(['benchmarks', 'wallet-operator', 'store-webhooks', 'task-manager'])(
    'the guide %s has no comments, names its columns on a phone, and has no axe violation',
    async (guide) => {
      await using visited = await visit(`/docs/guides/${guide}/`, {
        ...phone,
        bypassCSP: true,
        reducedMotion: 'reduce',
      });
      const { page } = visited;
      expect(await page.locator('main').textContent()).not.toContain('<!--');
      expect(await page.locator('main th:not(:empty)').first().isVisible()).toBe(true);
      for (const { viewport } of [phone, desktop]) {
        await page.setViewportSize(viewport);
        expect(await pageFaults(page)).toEqual(noFaults);
      }
    },
  );
});
