import type { BrowserContextOptions, Page } from 'playwright-core';
import { visit, type Visit } from './browser.ts';
import { stack } from './stack.ts';

/** Types a token into the form of the operations page and sends it. */
export const enterToken = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** The operations page with the admin's token, at a fragment of its address such as `webhooks?status=failed`. */
export const signedIn = async (fragment: string, options: BrowserContextOptions = {}): Promise<Visit> => {
  const visited = await visit(`/docs/ops/#${fragment}`, options);
  await enterToken(visited.page, stack.demo.adminToken);
  await visited.page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  return visited;
};
