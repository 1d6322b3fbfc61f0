import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe reports for the page, with the elements concerned. The visit needs `bypassCSP`. */
export const violations = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(),
  );
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
