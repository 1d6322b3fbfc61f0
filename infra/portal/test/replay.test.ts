import { randomUUID } from 'node:crypto';
import { testLimits } from '@platform/local/test-limits';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { send, tokenWith } from './api.ts';
import { hasBrowser, gateway, useBrowser } from './browser.ts';
import { signedIn } from './sign-in.ts';

useBrowser();

/** A separate store, because other tests send and replay webhooks. */
let store: { id: string; webhookToken: string };

const hook = (event: string, body: object) =>
  fetch(`${gateway}/api/v1/hooks/${event}/${store.webhookToken}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const rows = '.list tbody tr';

describe.runIf(hasBrowser)('a replay of one webhook', () => {
  beforeAll(async () => {
    const name = 'Corner shop';
    const body = { name, storeUrl: 'https://corner.example.test/', pos: { kind: 'blaze' } };
    store = (await (await send('POST', '/v1/stores', body)).json()) as typeof store;
    await hook('member_updated', { status: 'has no id' });
    await hook('job_started', { id: 'job-1', orderId: 'order-1' });
    const list = `/v1/stores/${store.id}/events?status=pending`;
    const areProcessed = async (): Promise<boolean> => {
      const { events } = (await (await send('GET', list)).json()) as { events: unknown[] };
      return events.length === 0;
    };
    await vi.waitUntil(areProcessed, testLimits.expect.poll);
  });

  test('is offered only to a token with a scope for it, and so is revealing the body', async () => {
    for (const [scope, offered] of [
      ['', [0, 0]],
      ['events:reveal', [1, 0]],
      ['stores:write', [0, 1]],
    ] as const) {
      const address = `webhooks?store=${store.id}&status=failed`;
      await using visited = await signedIn(
        address,
        {},
        await tokenWith(`stores:read events:read ${scope}`.trim()),
      );
      await visited.page.locator(rows).locator('button.link').click();
      const dialog = visited.page.getByRole('dialog');
      await dialog.getByRole('heading', { name: /^member_updated/ }).waitFor();
      const counts = ['Reveal body', 'Replay …'].map((name) => dialog.getByRole('button', { name }).count());
      expect([scope, await Promise.all(counts)]).toEqual([scope, offered]);
    }
  });

  test('that fails again says why, and the webhook stays in the list of failed ones', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&status=failed`);
    const { page } = visited;
    await page.locator(rows).getByRole('button').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'member_updated · Corner shop' }).waitFor();
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByText('A replay would …').waitFor();
    await dialog.getByRole('button', { name: 'Replay …' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByRole('button', { name: 'Replay …' }).click();
    await dialog.getByRole('button', { name: 'Replay now' }).click();
    await dialog.getByText(/^It failed again: The payload is not valid/).waitFor();
    expect(visited.requestedPaths.filter((path) => path.endsWith('/replay'))).toHaveLength(2);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.locator(rows, { hasText: 'The payload is not valid' }).waitFor();
  });

  test('shows in a dry run which records it would create and change', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&status=done`);
    const { page } = visited;
    const change = (before: object | null, after: object) => ({ record: 'order/o-1', before, after });
    const changes = [change(null, { status: 'A' }), change({ status: 'A' }, { status: 'B' })];
    await page.route('**/replay?dryRun=true', (route) =>
      route.fulfill({ json: { eventId: '', dryRun: true, changes } }),
    );
    await page.locator(rows, { hasText: 'job_started' }).locator('button.link').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await expect
      .poll(() => dialog.locator('.change').allTextContents())
      .toEqual([
        'create order/o-1After{\n  "status": "A"\n}',
        'change order/o-1Before{\n  "status": "A"\n}After{\n  "status": "B"\n}',
      ]);
  });

  test('that succeeds says so', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&status=done`);
    const { page } = visited;
    await page.locator(rows, { hasText: 'job_started' }).locator('button.link').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Replay …' }).click();
    await dialog.getByRole('button', { name: 'Replay now' }).click();
    await dialog.getByText('It was processed.').waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('that is retried later says when, and the fields of the dialog show the new status', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&status=failed`);
    const { page } = visited;
    await page.locator(rows).getByRole('button').click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('dd', { hasText: /^failed$/ }).waitFor();
    const next = { status: 'pending', finishedAt: null, nextAttemptAt: '2030-01-01T00:00:00.000Z' };
    const answers = [null, null, 'The provider answered 500.'].map((error) => ({ ...next, error }));
    await page.route('**/replay', (route) => route.fulfill({ status: 202, json: {} }));
    await page.route(/\/events\/[^/]+$/, async (route) => {
      const event = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...event, ...answers.shift() } });
    });
    await dialog.getByRole('button', { name: 'Replay …' }).click();
    await dialog.getByRole('button', { name: 'Replay now' }).click();
    await dialog.getByText(/^It failed: The provider answered 500\. The next attempt is at .*2030/).waitFor();
    await dialog.locator('dd', { hasText: /^pending$/ }).waitFor();
    expect(answers).toEqual([]);
  });

  test('a button reloads a list', async () => {
    await using visited = await signedIn(`webhooks?store=${store.id}&event=job_completed`);
    const { page } = visited;
    await page.getByText('No webhook matches the filter.').waitFor();
    await hook('job_completed', { id: 'job-1', orderId: 'order-1' });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.locator(rows, { hasText: 'job_completed' }).waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('new stores are in the list after a refresh, and stores of the same name have different labels', async () => {
    await using visited = await signedIn('webhooks');
    const { page } = visited;
    await page.getByLabel('Store').waitFor();
    const name = `Late shop ${randomUUID()}`;
    for (const storeUrl of ['https://one.example.test/', 'https://two.example.test/'])
      await send('POST', '/v1/stores', { name, storeUrl, pos: { kind: 'blaze' } });
    await page.getByRole('button', { name: 'Refresh' }).click();
    const options = page.getByLabel('Store').locator('option', { hasText: name });
    await expect.poll(() => options.count()).toBe(2);
    expect(new Set(await options.allTextContents()).size).toBe(2);
  });
});
