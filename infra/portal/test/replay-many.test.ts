import { readFile } from 'node:fs/promises';
import { testLimits } from '@platform/local/test-limits';
import type { Locator, Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { hasBrowser, gateway, useBrowser } from './browser.ts';
import { signedIn } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const { demo } = stack;

const hour = (offset: number): string => new Date(Date.now() + offset * 3_600_000).toISOString();

const isDryRun = (url: URL): boolean => url.pathname.endsWith('/events/replay') && url.search !== '';
const isReplay = (url: URL): boolean => url.pathname.endsWith('/events/replay') && url.search === '';

/** The response to a step of a replay that another step follows. */
const step = { json: { replayed: 1, next: 'there-is-more' } };

/** Opens the dialog and confirms a replay of three webhooks; `respond` answers its steps. */
const confirmReplay = async (page: Page, respond: (route: Route) => Promise<void>): Promise<Locator> => {
  await page.locator('.list tbody tr, .list .note').first().waitFor();
  await page.route(isDryRun, (route) => route.fulfill({ json: { replayed: 3, next: null } }));
  await page.route(isReplay, respond);
  await page.getByRole('button', { name: 'Replay many …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Dry run' }).click();
  await dialog.getByRole('button', { name: 'Replay 3 webhooks' }).click();
  return dialog;
};

const fragment = `webhooks?${new URLSearchParams({ store: demo.store.id, from: hour(-1), to: hour(1) })}`;

describe.runIf(hasBrowser)('a replay of many webhooks', () => {
  beforeAll(async () => {
    await fetch(`${gateway}/api/v1/hooks/member_updated/${demo.store.webhookToken}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ status: 'has no id' }),
    });
    const list = `${gateway}/v1/stores/${demo.store.id}/events?status=failed&event=member_updated`;
    const headers = { Authorization: `Bearer ${demo.adminToken}` };
    const hasFailed = async (): Promise<boolean> => {
      const { events } = (await (await fetch(list, { headers })).json()) as { events: unknown[] };
      return events.length > 0;
    };
    await vi.waitUntil(hasFailed, testLimits.expect.poll);
  });

  test('many webhooks are replayed after a dry run and a confirmation, and the result can be saved', async () => {
    const span = new URLSearchParams({
      status: 'failed',
      event: 'member_updated',
      from: hour(-1),
      to: hour(1),
    });
    await using visited = await signedIn(`webhooks?${span}`, { timezoneId: 'UTC' });
    const { page } = visited;
    expect(await page.getByRole('button', { name: 'Choose a store to replay many' }).isDisabled()).toBe(true);
    await page.getByLabel('Store').selectOption(demo.store.id);
    await page.locator('tbody tr').first().waitFor();
    await page.getByRole('button', { name: 'Replay many …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Replay many · Demo shop' }).waitFor();
    expect(await dialog.getByLabel('With the status').inputValue()).toBe('failed');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    const confirm = dialog.getByRole('button', { name: /^Replay \d+ webhooks?$/ });
    await confirm.waitFor();
    await dialog.getByText('would be processed again').waitFor();
    await dialog.getByText(/^Tried .*: \d+ would change records, \d+ would change nothing\.$/).waitFor();
    // A change after the dry run removes the confirmation.
    await dialog.getByLabel('With the status').selectOption('ignored');
    expect(await confirm.count()).toBe(0);
    await dialog.getByLabel('With the status').selectOption('failed');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await confirm.click();
    await dialog.getByText(/^\d+ webhooks? will be processed again\.$/).waitFor();
    const saved = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download result' }).click();
    const text = await readFile(await (await saved).path(), 'utf8');
    expect(text).toContain('id,event,entity,status,attempts,error,receivedAt,finishedAt');
    expect(text).toContain('member_updated');
    expect(visited.faults).toEqual([]);
  });

  test('ends when its dialog is closed', async () => {
    await using visited = await signedIn(fragment);
    const { page } = visited;
    const requested = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    let steps = 0;
    await confirmReplay(page, async (route) => {
      steps++;
      requested.resolve();
      await closed.promise;
      await route.fulfill(step);
    });
    await requested.promise;
    await page.keyboard.press('Escape');
    // The list is reloaded when the replay ends.
    const reloaded = page.waitForResponse(/\/events\?/);
    closed.resolve();
    await reloaded;
    expect(steps).toBe(1);
  });

  test('shows its progress and can be stopped, also after a retry', async () => {
    await using visited = await signedIn(fragment);
    const { page } = visited;
    const stopped = Promise.withResolvers<void>();
    let steps = 0;
    const dialog = await confirmReplay(page, async (route) => {
      if (++steps === 1)
        return route.fulfill({ status: 503, json: { detail: 'The database is unavailable.' } });
      if (steps > 2) await stopped.promise;
      return route.fulfill(step);
    });
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('1 of 3', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    stopped.resolve();
    await dialog
      .getByText('2 webhooks will be processed again. Stopped; the other webhooks are unchanged.')
      .waitFor();
    expect(steps).toBe(3);
  });

  test('continues after an error where it stopped, and its form is disabled meanwhile', async () => {
    await using visited = await signedIn(fragment);
    const { page } = visited;
    const release = Promise.withResolvers<void>();
    const bodies: { after?: string }[] = [];
    const dialog = await confirmReplay(page, async (route) => {
      bodies.push(route.request().postDataJSON() as { after?: string });
      if (bodies.length === 2)
        return route.fulfill({ status: 503, json: { detail: 'The database is unavailable.' } });
      if (bodies.length === 3) await release.promise;
      return route.fulfill(bodies.length === 1 ? step : { json: { replayed: 2, next: null } });
    });
    const status = dialog.getByLabel('With the status');
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('1 of 3', { exact: true }).waitFor();
    expect(await status.isDisabled()).toBe(true);
    expect(await dialog.getByRole('button', { name: 'Dry run' }).isDisabled()).toBe(true);
    release.resolve();
    await dialog.getByText('3 webhooks will be processed again.').waitFor();
    expect(await status.isDisabled()).toBe(false);
    expect(bodies.map(({ after }) => after)).toEqual([undefined, 'there-is-more', 'there-is-more']);
  });
});
