import { describe, expect, test } from 'vitest';
import { canLook, useBrowser, visit } from './browser.ts';

useBrowser();

describe.runIf(canLook)('the guides of the portal', () => {
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
    const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
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
});
