import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { addPlayer, send, tokenWith } from './api.ts';
import { violations, hasBrowser, gateway, useBrowser } from './browser.ts';
import { signedIn } from './sign-in.ts';

useBrowser();

let storeId: string;
const hostile = '<img src=x onerror=alert(1)>';

const readStore = async () =>
  (await (await send('GET', `/v1/stores/${storeId}`)).json()) as Record<string, unknown>;

const read = async (path: string) => (await (await send('GET', path)).json()) as Record<string, unknown>;

/** Reviews and saves a form, and returns the text of the review. */
const save = async (page: Page, form: string, verb = 'Save'): Promise<string> => {
  await page.getByRole('form', { name: form, exact: true }).getByRole('button', { name: 'Review' }).click();
  const changes = await page.getByRole('table', { name: 'Changes', exact: true }).innerText();
  await page.getByRole('button', { name: verb, exact: true }).click();
  return changes;
};

describe.runIf(hasBrowser)('the settings of a store', () => {
  beforeAll(async () => {
    const body = {
      name: hostile,
      storeUrl: 'https://corner.example.test/',
      pos: { kind: 'square', credentials: { accessToken: 'old-token' } },
      identity: [{ kind: 'persona', credentials: { apiKey: 'key' } }],
    };
    storeId = ((await (await send('POST', '/v1/stores', body)).json()) as { id: string }).id;
  });

  test('are changed in a form that shows the difference first, and the list of changes has it afterwards', async () => {
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`, { bypassCSP: true });
    const { page } = visited;
    const form = page.getByRole('form', { name: 'Store', exact: true });
    await form.getByLabel('Name', { exact: true }).fill('Corner shop');
    await form.getByLabel('Active').selectOption('No');
    const changes = await save(page, 'Store');
    for (const text of [hostile, 'Corner shop', 'Yes', 'No']) expect(changes).toContain(text);
    await page.getByText('Saved.').waitFor();
    expect(await readStore()).toMatchObject({ name: 'Corner shop', active: false });
    await page.locator('h2').getByText('paused').waitFor();
    await page.getByRole('table', { name: 'Changes of the store' }).getByText('Corner shop').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(visited.faults).toEqual([]);
  });

  test('take new credentials that are never shown again', async () => {
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`);
    const { page } = visited;
    const form = page.getByRole('form', { name: 'Point of sale: square' });
    await form.getByLabel('webhookSecret').fill('my-new-secret');
    expect(await form.getByLabel('accessToken').getAttribute('placeholder')).toContain('Set');
    const changes = await save(page, 'Point of sale: square');
    expect(changes).toContain('a new value');
    await page.getByText('Saved.').waitFor();
    await expect.poll(() => form.getByLabel('webhookSecret').getAttribute('placeholder')).toContain('Set');
    expect(await form.getByLabel('webhookSecret').inputValue()).toBe('');
    expect(await page.content()).not.toContain('my-new-secret');
    expect(await readStore()).toMatchObject({ pos: { credentials: ['accessToken', 'webhookSecret'] } });
  });

  test('show that no key can decrypt the credentials', async () => {
    await using visited = await signedIn('traffic');
    const { page } = visited;
    await page.route(`**/v1/stores/${storeId}`, async (route) => {
      const response = await route.fetch();
      const store = (await response.json()) as object;
      await route.fulfill({ response, json: { ...store, credentialsState: 'unreadable' } });
    });
    await page.goto(`${gateway}/docs/ops/#settings?of=stores&open=${storeId}`);
    await page.locator('h2').getByText('credentials unreadable').waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('list the credentials that another address of a provider has removed', async () => {
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`);
    const { page } = visited;
    const name = 'Identity provider: persona';
    const form = page.getByRole('form', { name });
    await form.getByLabel('Address of its interface').fill('https://persona.example.test/');
    await save(page, name);
    await page.getByText('because they were removed: identity.persona.apiKey').waitFor();
    expect(await readStore()).toMatchObject({ identity: [{ kind: 'persona', credentials: [] }] });
  });

  test('get another provider, and keep the others with their credentials', async () => {
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`);
    const { page } = visited;
    await send('PATCH', `/v1/stores/${storeId}`, {
      identity: [{ kind: 'persona', credentials: { apiKey: 'k' } }],
    });
    await page.reload();
    expect(await page.getByLabel('Access token').count()).toBe(1);
    await using again = await signedIn(`settings?of=stores&open=${storeId}`);
    const name = 'Add: Identity provider';
    const form = again.page.getByRole('form', { name });
    await form.getByText(name).click();
    const kinds = await form.getByLabel('Kind').locator('option').allTextContents();
    expect(kinds).toEqual(['Choose …', 'veriff']);
    await form.getByLabel('Kind').selectOption('veriff');
    await save(again.page, name);
    await again.page.getByRole('form', { name: 'Identity provider: veriff' }).waitFor();
    expect(await readStore()).toMatchObject({
      identity: [{ kind: 'persona', credentials: ['apiKey'] }, { kind: 'veriff' }],
    });
  });

  test('lose a provider after a confirmation, and keep the others with their credentials', async () => {
    const identity = [{ kind: 'persona', credentials: { apiKey: 'k' } }, { kind: 'veriff' }];
    await send('PATCH', `/v1/stores/${storeId}`, { identity, delivery: { kind: 'onfleet' } });
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`);
    const { page } = visited;
    for (const kind of ['veriff', 'onfleet']) {
      await page.getByRole('button', { name: `Remove ${kind} …` }).click();
      await page.getByRole('button', { name: `Remove ${kind}`, exact: true }).click();
      await expect.poll(() => page.getByRole('button', { name: `Remove ${kind} …` }).count()).toBe(0);
    }
    expect(await readStore()).toMatchObject({
      identity: [{ kind: 'persona', credentials: ['apiKey'] }],
      delivery: null,
    });
    // A store always has a point of sale.
    expect(await page.getByRole('button', { name: 'Remove square …' }).count()).toBe(0);
  });

  test('are not overwritten when another user has changed them meanwhile', async () => {
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`);
    const { page } = visited;
    const form = page.getByRole('form', { name: 'Store', exact: true });
    await form.getByLabel('Name', { exact: true }).fill('Mine');
    await send('PATCH', `/v1/stores/${storeId}`, { name: 'Theirs' });
    await save(page, 'Store');
    await page
      .getByText('Another user has changed this since you opened it, so nothing was saved.')
      .waitFor();
    expect(await readStore()).toMatchObject({ name: 'Theirs' });
    await page.getByRole('button', { name: 'Show the newest version' }).click();
    await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue()).toBe('Theirs');
  });

  test('show the errors or the missing scope, and keep the entered values', async () => {
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`);
    const { page } = visited;
    const form = page.getByRole('form', { name: 'Store', exact: true });
    await form.getByLabel('Currency').fill('euro');
    await save(page, 'Store');
    await page.getByRole('alert').getByText('currency').waitFor();
    expect(await form.getByLabel('Currency').inputValue()).toBe('euro');
    const token = await tokenWith('stores:read');
    await using reader = await signedIn(`settings?of=stores&open=${storeId}`, {}, token);
    await reader.page.getByRole('form', { name: 'Store', exact: true }).getByLabel('Currency').fill('EUR');
    await save(reader.page, 'Store');
    await reader.page.getByText('stores:admin').waitFor();
  });

  test('can delete the store and restore it', async () => {
    await using visited = await signedIn(`settings?of=stores&open=${storeId}`);
    const { page } = visited;
    await page.getByRole('button', { name: 'Delete the store …' }).click();
    await page.getByRole('button', { name: 'Delete the store', exact: true }).click();
    await page.locator('h2').getByText('deleted').waitFor();
    expect((await readStore())['deletedAt']).not.toBeNull();
    await page.getByRole('button', { name: 'Restore the store …' }).click();
    await page.getByRole('button', { name: 'Restore the store', exact: true }).click();
    await page.locator('h2').getByText('paused').waitFor();
    expect((await readStore())['deletedAt']).toBeNull();
  });
});

describe.runIf(hasBrowser)('other settings', () => {
  test('a game is added and disabled, and the audit log has both', async () => {
    const code = `game-${randomUUID()}`;
    await using visited = await signedIn('settings?of=games', { bypassCSP: true });
    const { page } = visited;
    await page.getByRole('button', { name: 'New game …' }).click();
    await page.getByLabel('Code').fill(code);
    await page.getByLabel('Name', { exact: true }).fill(hostile);
    await save(page, 'Game');
    await page.getByText('Saved.').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.goto(`${gateway}/docs/ops/#settings?of=games&open=${code}`);
    await page.getByLabel('Enabled').selectOption('No');
    await save(page, 'Game');
    await page.getByText('Saved.').waitFor();
    expect(await read(`/v1/games/${code}`)).toMatchObject({ name: hostile, enabled: false });
    const { events } = (await read('/v1/audit/events?limit=5')) as {
      events: { kind: string; details: object }[];
    };
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['game_created', 'game_changed']));
    expect(visited.faults).toEqual([]);
  });

  test('an API key is replaced by a new one, which is shown once', async () => {
    const name = `key-${randomUUID()}`;
    const { key_hint: hint } = (await (
      await send('POST', '/v1/api-keys', { name, scopes: ['verify:read'] })
    ).json()) as { key_hint: string };
    await using visited = await signedIn('settings?of=keys');
    const { page } = visited;
    await page.getByRole('button', { name }).click();
    await page.getByLabel('Seconds until the old key expires').fill('3600');
    expect(await save(page, 'Rotation', 'Rotate the key')).toContain('3600');
    const key = await page.getByText(/^vk_live_\w{20,}/).innerText();
    expect(key.endsWith(hint.slice(-4))).toBe(false);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('tbody tr', { hasText: name }).count()).toBe(2);
    await expect.poll(() => page.content()).not.toContain(key);
  });

  test('an API key is shown once, and revoked', async () => {
    const name = `key-${randomUUID()}`;
    await using visited = await signedIn('settings?of=keys');
    const { page } = visited;
    await page.getByRole('button', { name: 'New API key …' }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Clients').fill('Acme\nBeta');
    await save(page, 'API key', 'Create the key');
    const key = await page.getByText(/^vk_live_\w{20,}/).innerText();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name }).click();
    await page.getByRole('button', { name: 'Revoke the key …' }).waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByRole('button', { name: 'Revoke the key …' }).click();
    await page.getByRole('button', { name: 'Revoke the key', exact: true }).click();
    await page.getByText('Revoked.').waitFor();
    await page.locator('tbody tr', { hasText: name }).getByText('revoked').waitFor();
  });

  test('a limit is changed alone: other limits and pending ones stay', async () => {
    const playerId = await addPlayer('EUR');
    const path = `/v1/players/${playerId}/limits`;
    await send('PUT', path, { setBy: 'player', loss: { '24h': '50.00' }, sessionMinutes: 60 });
    await send('PUT', path, { setBy: 'player', loss: { '24h': '80.00' }, sessionMinutes: 60 });
    await using visited = await signedIn(`limits?playerId=${playerId}`);
    const { page } = visited;
    const name = 'Change the limits set by the player';
    const form = page.getByRole('form', { name });
    await form.getByText(name).click();
    expect(await form.getByLabel('Losses, 24h').inputValue()).toBe('80.00');
    await form.getByLabel('Deposits, month').fill('500');
    expect(await save(page, name)).toContain('500');
    await page.getByText('Saved. A lower limit is in force now').waitFor();
    expect(await read(path)).toMatchObject({
      player: { deposit: { month: '500.00' }, loss: { '24h': '50.00' }, sessionMinutes: 60 },
      operator: {},
      pending: [{ kind: 'loss', limit: '80.00' }],
    });
    await page.getByRole('table', { name: 'Changes of limits' }).getByText('500.00 EUR').waitFor();
    // Another user changes the limits while the form is open.
    await form.getByText(name).click();
    await form.getByLabel('Deposits, month').fill('400');
    await send('PUT', path, { setBy: 'player', loss: { '24h': '50.00' } });
    await save(page, name);
    await page.getByText('Another user has changed this').waitFor();
  });
});
