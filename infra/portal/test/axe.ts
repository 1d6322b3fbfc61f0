import axe from 'axe-core';
import type { Page } from 'playwright-core';

const colorSchemes = ['light', 'dark'] as const;

/** What axe reports for the page, with the elements concerned. The visit needs `bypassCSP`. */
export const violations = async (page: Page, ...rules: string[]): Promise<string[]> => {
  const isLoaded = await page.evaluate(() => 'axe' in globalThis);
  if (!isLoaded) await page.evaluate(axe.source);
  return page.evaluate(async (runOnly) => {
    const { violations: found } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      // Of the thousands of nodes without a fault, no selector is built and nothing crosses to this process.
      resultTypes: ['violations'],
      // `target-size` is of WCAG 2.2, which axe does not check by itself.
      ...(runOnly.length > 0 ? { runOnly } : { rules: { 'target-size': { enabled: true } } }),
    });
    return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, rules);
};

/**
 * What axe reports by day and by night, and by how many pixels the page is wider than the screen. At night only the
 * colours differ. A colour in the middle of a transition has no contrast of its own, so the visit needs `reducedMotion`.
 */
export const faultsOfLook = async (page: Page): Promise<{ violations: string[]; overflow: number }> => {
  const found: string[] = [];
  let overflow = 0;
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await violations(page, ...(colorScheme === 'dark' ? ['color-contrast'] : []))));
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    overflow = Math.max(overflow, beyond);
  }
  return { violations: found, overflow };
};

/** What a page without faults gives. */
export const noFaults = { violations: [], overflow: 0 };
