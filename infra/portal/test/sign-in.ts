import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { visit, type Visit } from './browser.ts';
import { stack } from './stack.ts';

/** The views of the operations page, by the fragments of their addresses. */
export const views = [
  'find',
  'traffic',
  'webhooks',
  'rounds',
  'players',
  'limits',
  'money',
  'reconciliation',
  'ledger',
  'evidence',
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
  await visited.page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  return visited;
};

/** Waits until the lists of the view are loaded. */
export const loaded = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0);
};
