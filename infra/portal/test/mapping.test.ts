import { testLimits } from '@platform/local/test-limits';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { send, tokenWith } from './api.ts';
import { violations, hasBrowser, gateway, useBrowser } from './browser.ts';
import { signedIn } from './sign-in.ts';

useBrowser();

let store: { id: string; webhookToken: string };
const birthDate = '1970-05-17';

const hook = (body: object) =>
  fetch(`${gateway}/api/v1/hooks/order_updated/${store.webhookToken}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const listOf = async <T>(path: string, name: string): Promise<T[]> => {
  const response = (await (await send('GET', `/v1/stores/${store.id}/${path}`)).json()) as Record<
    string,
    T[]
  >;
  return response[name] ?? [];
};

const failedEvents = () => listOf<{ id: string; entity: string }>('events?status=failed', 'events');

/** Opens the webhook of an order. */
const openWebhook = async (page: Page, id: string) => {
  const row = page.locator('.list tbody tr', { hasText: `order:${id}` });
  await row.getByRole('button').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('region', { name: 'Mapping' }).waitFor();
  return dialog;
};

describe.runIf(hasBrowser)('a webhook that failed because of its mapping', () => {
  beforeAll(async () => {
    const body = { name: 'Bakery', storeUrl: 'https://bakery.example.test/', pos: { kind: 'generic' } };
    store = (await (await send('POST', '/v1/stores', body)).json()) as typeof store;
    const hostile = '<img src=x onerror=alert(1)>';
    for (const id of ['o-1', 'o-2', 'o-3'])
      await hook({ id, state: 'NEW', [hostile]: hostile, person: { birthDate } });
    await hook({ id: 'o-4' });
    await vi.waitUntil(async () => (await failedEvents()).length === 4, testLimits.expect.poll);
  });

  test('is dismissed with a note, and is then not failed any more', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&status=failed`);
    const { page } = visited;
    const dialog = await openWebhook(page, 'o-3');
    await dialog.getByRole('button', { name: 'Dismiss …' }).click();
    await dialog.getByLabel('Reason').fill('Corrected at the till');
    await dialog.getByRole('form', { name: 'Dismissal' }).getByRole('button').click();
    await dialog.getByRole('table', { name: 'Changes' }).getByText('Corrected at the till').waitFor();
    await dialog.getByRole('button', { name: 'Dismiss', exact: true }).click();
    await dialog.getByText('Dismissed.').waitFor();
    await dialog.locator('dd', { hasText: /^dismissed$/ }).waitFor();
    expect((await failedEvents()).length).toBe(3);
  });

  test('shows its masked body beside a form that tries and saves the mapping, and replays webhooks', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&status=failed`, { bypassCSP: true });
    const { page } = visited;
    const dialog = await openWebhook(page, 'o-1');
    const form = dialog.getByRole('form', { name: 'Mapping' });
    // The mapping at receipt does not use the field, so it is masked.
    expect(await dialog.innerText()).not.toContain(birthDate);
    await form.getByText('Not in this body.').first().waitFor();
    await form.getByLabel('status', { exact: true }).fill('/state');
    await form.getByText('Other fields of the order').click();
    await form.getByLabel('orderNo').fill('/person/birthDate');
    await form.getByText('In this body, masked.').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await form.getByRole('button', { name: 'Try the changes' }).click();
    const changes = dialog.getByRole('table', { name: 'Changes' });
    expect(await changes.getByRole('row', { name: 'status' }).innerText()).toContain('/state');
    await dialog.getByText('Of all failed webhooks of the POS, 2 would change records').waitFor();
    await dialog.getByText('1 would fail again').waitFor();
    await dialog.locator('.change', { hasText: 'order/o-1' }).waitFor();
    // A trial saves nothing, and masked values stay masked.
    expect(await dialog.innerText()).not.toContain(birthDate);
    expect(await listOf('changes', 'changes')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save the mapping' }).click();
    await dialog.getByText('Saved. New webhooks are processed with this mapping.').waitFor();
    expect(await listOf('changes', 'changes')).toHaveLength(1);
    await dialog.getByRole('button', { name: 'Replay all failed webhooks of the store' }).click();
    await dialog.getByText('3 webhooks will be processed again.').waitFor();
    // A webhook that waits for its replay is no longer failed, but has no order yet.
    const orders = () => listOf<object>('orders', 'orders');
    await vi.waitUntil(async () => (await orders()).length === 2, testLimits.expect.poll);
    await vi.waitUntil(async () => (await failedEvents()).length === 1, testLimits.expect.poll);
    expect(await orders()).toMatchObject([{ status: 'NEW' }, { status: 'NEW' }]);
    const reveals = await listOf<{ kind: string }>('event-reveals', 'eventReveals');
    // Other test files search the webhooks of all stores at the same time.
    const kinds = reveals.map(({ kind }) => kind).filter((kind) => kind !== 'search');
    expect(kinds.length).toBeGreaterThan(3);
    expect(new Set(kinds)).toEqual(new Set(['replay']));
    expect(visited.faults).toEqual([]);
  });

  test('shows the mapping with which it failed beside the current one if they differ', async () => {
    const mapping = { order: { status: '/state', orderNo: '/later' } };
    await send('PATCH', `/v1/stores/${store.id}`, { pos: { mapping } });
    await using visited = await signedIn(`webhooks?store=${store.id}&status=failed`);
    const { page } = visited;
    const dialog = await openWebhook(page, 'o-4');
    const row = dialog.getByRole('table', { name: 'Changes of the mapping' }).locator('tbody tr');
    await expect
      .poll(() => row.locator('td').allTextContents())
      .toEqual(['order.orderNo', '/person/birthDate', '/later']);
  });

  test('keeps the entered mapping when the store cannot be reloaded after a replay', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&status=failed`);
    const { page } = visited;
    const dialog = await openWebhook(page, 'o-4');
    const mapping = dialog.getByRole('region', { name: 'Mapping' });
    await mapping.getByLabel('status', { exact: true }).fill('/entered');
    await page.route(`**/v1/stores/${store.id}`, (route) =>
      route.fulfill({ status: 503, json: { detail: 'The database is unavailable.' } }),
    );
    await dialog.getByRole('button', { name: 'Replay …' }).click();
    await dialog.getByRole('button', { name: 'Replay now' }).click();
    await dialog.getByText('It failed again').waitFor();
    await dialog.getByRole('alert').getByText('The database is unavailable.').waitFor();
    expect(await mapping.getByLabel('status', { exact: true }).inputValue()).toBe('/entered');
  });

  test('is shown without the mapping if the token cannot change it', async () => {
    const token = await tokenWith('stores:write events:read');
    await using visited = await signedIn(`webhooks?store=${store.id}&status=failed`, {}, token);
    const { page } = visited;
    await page.locator('.list tbody tr', { hasText: 'order:o-4' }).getByRole('button').first().click();
    await page.getByRole('button', { name: 'Dismiss …' }).waitFor();
    expect(await page.getByRole('region', { name: 'Mapping' }).count()).toBe(0);
  });
});
