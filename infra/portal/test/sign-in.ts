import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { gateway, visit, type Visit } from './browser.ts';
import { stack } from './stack.ts';

/** The names of the views in the address of the operations page. */
export const views = [
  'find',
  'traffic',
  'webhooks',
  'rounds',
  'refusals',
  'players',
  'limits',
  'money',
  'reconciliation',
  'ledger',
  'evidence',
  'settings',
  'subscriptions',
  'mailbox',
] as const;

/** Signs in on the operations page with a token. */
export const enterToken = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** Opens the operations page at a fragment such as `webhooks?status=failed`, and signs in, by default with the admin token. */
export const signedIn = async (
  fragment: string,
  options: BrowserContextOptions = {},
  token = stack.demo.adminToken,
): Promise<Visit> => {
  const visited = await visit(`/docs/ops/#${fragment}`, options);
  await enterToken(visited.page, token);
  // The sign-in form has the same heading.
  await visited.page.locator('#dashboard h1').waitFor();
  return visited;
};

/** Opens the view of a fragment in a signed-in page, and returns its element. */
export const openView = async (page: Page, fragment: string): Promise<Locator> => {
  await page.goto(`${gateway}/docs/ops/#${fragment}`);
  const view = page.getByRole('region', { name: new RegExp(`^${fragment.split('?')[0]}$`, 'i') });
  await view.waitFor();
  return view;
};

/**
 * Shares one signed-in page between the tests of a `describe` that only read views, because loading the page and signing in
 * takes most of their time. The returned function opens the view of a fragment anew. After each test the page must have
 * no faults.
 */
export const useSharedPage = (options: BrowserContextOptions = {}): ((fragment: string) => Promise<Page>) => {
  let shared: Visit;
  beforeAll(async () => {
    shared = await signedIn('traffic', options);
  });
  afterEach(() => {
    expect({ faults: shared.faults, outside: shared.outside }).toEqual({ faults: [], outside: [] });
  });
  afterAll(() => shared[Symbol.asyncDispose]());
  return async (fragment) => {
    // Opens another view first, because the same view would show its old content until the new responses arrive.
    await openView(shared.page, fragment.startsWith('mailbox') ? 'traffic' : 'mailbox');
    await openView(shared.page, fragment);
    return shared.page;
  };
};

/** Waits until the lists, the health strip and the charts of the dashboard have their first values. */
export const loaded = async (page: Page): Promise<void> => {
  const awaited = page.locator('[aria-busy], .strip summary, .service .state');
  const isLoading = (elements: Element[]): boolean =>
    elements.some(({ ariaBusy, textContent }) => ariaBusy === 'true' || textContent.includes('Checking'));
  await expect.poll(() => awaited.evaluateAll(isLoading)).toBe(false);
  await page.evaluate(() => document.fonts.ready.then(() => {}));
};
