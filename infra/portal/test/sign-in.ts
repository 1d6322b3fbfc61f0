import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { gateway, visit, type Visit } from './browser.ts';
import { stack } from './stack.ts';

/** The views of the operations page, by the fragments of their addresses. */
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

/** Types a token into the form of the operations page and sends it. */
export const enterToken = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** The operations page at a fragment of its address such as `webhooks?status=failed`, with the admin's token. */
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

/** Leads a page that is signed in to the view at a fragment of the address; returns its part of the page. */
export const openView = async (page: Page, fragment: string): Promise<Locator> => {
  await page.goto(`${gateway}/docs/ops/#${fragment}`);
  const view = page.getByRole('region', { name: new RegExp(`^${fragment.split('?')[0]}$`, 'i') });
  await view.waitFor();
  return view;
};

/**
 * One page with the admin's token for the tests of a `describe` that only look at views: loading the page and signing in
 * takes most of such a test. The result leads to the view at a fragment, which is built anew. After each test the page
 * must not have done what it should not.
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
    // A view of the same name would keep what it shows until the answers for the new fragment are there.
    await openView(shared.page, fragment.startsWith('mailbox') ? 'traffic' : 'mailbox');
    await openView(shared.page, fragment);
    return shared.page;
  };
};

/** Waits until the lists, the health strip and the charts of the dashboard have their first values. */
export const loaded = async (page: Page): Promise<void> => {
  const awaited = page.locator('[aria-busy], .strip summary, .service .state');
  const isLoading = (elements: Element[]): boolean =>
    elements.some((one) => one.ariaBusy === 'true' || one.textContent.includes('Checking'));
  await expect.poll(() => awaited.evaluateAll(isLoading)).toBe(false);
  await page.evaluate(() => document.fonts.ready.then(() => {}));
};
