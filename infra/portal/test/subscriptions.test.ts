import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send, tokenWith } from './api.ts';
import { pageFaults, noFaults, hasBrowser, desktop, useBrowser } from './browser.ts';
import { loaded, signedIn } from './sign-in.ts';

useBrowser();

const path = '/v1/feeds/consignments/subscriptions';
const hostile = '<img src=x onerror=alert(1)>';

let server: Server;
let isRefusing = false;
/** The types of the events that the subscriber acknowledged. */
const acknowledged: string[] = [];

/** Starts a subscriber; while `isRefusing` its responses are errors with markup. */
const startSubscriber = (): Promise<Server> => {
  const started = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      if (req.url === '/gone') return res.writeHead(410).end();
      if (isRefusing) return res.writeHead(500).end(hostile);
      acknowledged.push((JSON.parse(body) as { type: string }).type);
      return res.writeHead(204).end();
    });
  });
  return new Promise((resolve) => {
    started.listen(0, '127.0.0.1', () => resolve(started));
  });
};

const addressOf = (name: string): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;

const addWarehouse = () =>
  send('POST', '/v1/warehouses', {
    code: `W-${crypto.randomUUID()}`.slice(0, 20),
    name: 'Subscribed',
    city: 'Amsterdam',
    countryCode: 'NL',
  });

const subscribe = async (name: string, fields: object = {}): Promise<string> => {
  const created = await send('POST', path, { url: addressOf(name), lists: ['warehouses'], ...fields });
  return ((await created.json()) as { id: string }).id;
};

const read = async (id: string) =>
  (await (await send('GET', `${path}/${id}`)).json()) as Record<string, unknown>;

const attemptsOf = async (id: string, result: string) => {
  const response = await send('GET', `${path}/${id}/attempts?result=${result}`);
  return ((await response.json()) as { attempts: unknown[] }).attempts;
};

/** Makes a change, and returns the text of its confirmation. */
const confirm = async (page: Page, verb: string): Promise<string> => {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: `${verb} …` }).click();
  const changes = await dialog.getByRole('table', { name: 'Changes', exact: true }).innerText();
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  return changes;
};

describe.runIf(hasBrowser)('subscriptions', () => {
  beforeAll(async () => {
    server = await startSubscriber();
  });
  afterAll(() => void server?.close());

  test('are created in a form, and the secret is shown once and can be copied', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    await using visited = await signedIn('subscriptions', { ...desktop, permissions });
    const { page } = visited;
    const newButton = page.getByRole('button', { name: 'Choose a service to subscribe' });
    expect(await newButton.isDisabled()).toBe(true);
    await page.getByLabel('Service').selectOption('consignments');
    await page.getByRole('button', { name: 'New subscription …' }).click();
    const dialog = page.getByRole('dialog', { name: 'New subscription · consignments' });
    await dialog.getByLabel('Address').fill(addressOf('form'));
    await dialog.getByLabel('Description').fill(hostile);
    await dialog.getByLabel('warehouses').selectOption('Yes');
    await dialog.getByRole('button', { name: 'Review changes' }).click();
    const changes = await dialog.getByRole('table', { name: 'Changes', exact: true }).innerText();
    for (const text of [addressOf('form'), hostile, 'warehouses']) expect(changes).toContain(text);
    await dialog.getByRole('button', { name: 'Subscribe' }).click();
    await dialog.getByText('The secret is shown only once').waitFor();
    await dialog.getByRole('button', { name: 'Copy whsec_' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^whsec_/);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('whsec_');
    const subscriptions = (await (await send('GET', path)).json()) as Record<string, unknown>[];
    expect(subscriptions.find(({ url }) => url === addressOf('form'))).toMatchObject({
      lists: ['warehouses'],
      actions: ['created', 'updated', 'deleted'],
      description: hostile,
      ordering: 'record',
    });
    expect(visited.faults).toEqual([]);
  });

  test('show failed attempts with the start of the response, and send them again', async () => {
    const id = await subscribe('failing');
    isRefusing = true;
    await addWarehouse();
    await expect.poll(() => attemptsOf(id, 'failed')).not.toEqual([]);
    isRefusing = false;
    await expect.poll(() => attemptsOf(id, 'delivered'), { timeout: 60_000 }).not.toEqual([]);
    await using visited = await signedIn('subscriptions', desktop);
    const { page } = visited;
    const row = page.locator(`tr:has([data-key="${id}"])`);
    await row.getByRole('button').press('Enter');
    const dialog = page.getByRole('dialog');
    const attempts = dialog.getByRole('table', { name: 'Attempts' });
    await dialog.getByLabel('Result').selectOption('failed');
    await expect.poll(() => attempts.locator('tbody .state').allTextContents()).not.toContain('204');
    await attempts.locator('summary').first().click();
    await attempts.locator('pre').getByText(hostile).waitFor();
    const before = acknowledged.length;
    await attempts.getByRole('button', { name: 'Send again' }).click();
    await attempts.getByText('1 change will be sent again.').waitFor();
    await expect.poll(() => acknowledged.slice(before)).toContain('warehouse.created');
    await dialog.getByRole('img', { name: /^Failed over the last \d+ (?:s|min): / }).waitFor();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByText('It was delivered.').waitFor();
    expect(acknowledged).toContain('subscription.test');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('result');
    expect(visited.faults).toEqual([]);
  });

  test('send the changes of a period again', async () => {
    const id = await subscribe('span');
    await addWarehouse();
    await expect.poll(() => attemptsOf(id, 'delivered')).not.toEqual([]);
    const before = acknowledged.length;
    await using visited = await signedIn(`subscriptions?open=consignments/${id}`, desktop);
    const dialog = visited.page.getByRole('dialog');
    await dialog.getByText('Send the changes of a period again').click();
    await dialog.getByLabel('Changes from').fill('2020-01-01T00:00');
    await dialog.getByRole('form', { name: 'Send again' }).getByRole('button').click();
    expect(await dialog.getByRole('table', { name: 'Changes', exact: true }).innerText()).toContain('2020');
    await dialog.getByRole('button', { name: 'Send again', exact: true }).first().click();
    await dialog.getByText(/changes? will be sent again\.$/).waitFor();
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before);
  });

  test('are paused, changed and deleted, and get a new secret, each after a confirmation', async () => {
    const id = await subscribe('changed');
    await using visited = await signedIn(`subscriptions?open=consignments/${id}`, desktop);
    const { page } = visited;
    const dialog = page.getByRole('dialog');
    expect(await confirm(page, 'Pause')).toContain('paused');
    await dialog.getByRole('button', { name: 'Continue …' }).waitFor();
    expect(await read(id)).toMatchObject({ state: 'paused' });
    await confirm(page, 'Continue');
    await dialog.getByRole('button', { name: 'Pause …' }).waitFor();
    expect(await read(id)).toMatchObject({ state: 'active' });
    await dialog.getByText('Address and changes').click();
    await dialog.getByLabel('Address', { exact: true }).fill(addressOf('elsewhere'));
    await dialog.getByLabel('Changes', { exact: true }).fill('deleted');
    await dialog.getByRole('button', { name: 'Review changes' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => read(id)).toMatchObject({ url: addressOf('elsewhere'), actions: ['deleted'] });
    await confirm(page, 'Replace the secret');
    await dialog.getByText('The new secret is shown only once').waitFor();
    await confirm(page, 'Delete the subscription');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => page.locator(`[data-key="${id}"]`).count()).toBe(0);
    expect(visited.faults).toEqual([]);
  });

  test('of other users are listed with their creator for an operator, who can only delete them', async () => {
    const id = await subscribe('of-another');
    const token = await tokenWith('consignments:subscriptions subscriptions:admin', 'an operator');
    await using visited = await signedIn('subscriptions', desktop, token);
    const { page } = visited;
    const row = page.locator(`tr:has([data-key="${id}"])`);
    await row.getByText('demo-admin').waitFor();
    await row.getByRole('button').press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete the subscription …' }).waitFor();
    expect(await dialog.getByRole('button', { name: /Pause|Replace|Send|Save/ }).count()).toBe(0);
    await confirm(page, 'Delete the subscription');
    await expect.poll(() => page.locator(`[data-key="${id}"]`).count()).toBe(0);
    expect(visited.requestedPaths.filter((requested) => requested.endsWith('/attempts'))).toEqual([]);
    expect(visited.faults).toEqual([]);
  });

  test('that are disabled show the reason, and the contact gets a mail', async () => {
    const contact = `${crypto.randomUUID()}@example.test`;
    const id = await subscribe('gone', { contact });
    await addWarehouse();
    await expect.poll(() => read(id), { timeout: 60_000 }).toMatchObject({ state: 'disabled' });
    await using visited = await signedIn(`subscriptions?open=consignments/${id}`, desktop);
    const { page } = visited;
    await page.getByRole('dialog').getByText('wants no more changes').waitFor();
    await page.getByRole('dialog').getByText(contact).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Mailbox' }).click();
    const row = page.getByRole('row').filter({ hasText: contact });
    await row.getByRole('button', { name: 'A subscription of consignments is disabled' }).click();
    await page.getByRole('dialog').getByText(`The subscription ${id} of consignments is disabled`).waitFor();
  });

  test('have no axe violation and fit a phone and a desktop, in light and dark mode', async () => {
    const id = await subscribe('look');
    await addWarehouse();
    await expect.poll(() => attemptsOf(id, 'delivered')).not.toEqual([]);
    const look = { bypassCSP: true, reducedMotion: 'reduce' } as const;
    await using visited = await signedIn('subscriptions?of=consignments', { ...desktop, ...look });
    const { page } = visited;
    const expectNoFaults = async () => {
      await loaded(page);
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await pageFaults(page)).toEqual(noFaults);
      }
    };
    await expectNoFaults();
    await page.locator(`[data-key="${id}"]`).click();
    await page.getByRole('table', { name: 'Attempts' }).locator('summary').first().click();
    await page.getByText('Address and changes').click();
    await expectNoFaults();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'New subscription …' }).click();
    await expectNoFaults();
  });

  test('of services without the scope are not shown, and those of other services are shown if one fails', async () => {
    const token = await tokenWith('quest-service:subscriptions verify-projects:subscriptions');
    await using visited = await signedIn('subscriptions', desktop, token);
    const { page } = visited;
    expect(await page.getByLabel('Service').locator('option').allTextContents()).toEqual([
      'Any',
      'quest-service',
      'verify-projects',
    ]);
    await loaded(page);
    const services = await page.locator('.view tbody tr td:nth-child(3)').allTextContents();
    expect(services.filter((name) => name !== 'quest-service' && name !== 'verify-projects')).toEqual([]);
    expect(visited.requestedPaths.filter((requested) => requested === path)).toEqual([]);
    await using broken = await signedIn('traffic', desktop);
    await broken.page.route(`**${path}`, (route) =>
      route.fulfill({ status: 503, json: { detail: 'The database is unavailable.' } }),
    );
    await broken.page.getByRole('link', { name: 'Subscriptions' }).click();
    await broken.page.getByText('consignments: The database is unavailable.').waitFor();
    await broken.page.getByRole('table').getByText('store-webhooks').first().waitFor();
  });
});
