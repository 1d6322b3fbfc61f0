import type {} from '@platform/local/provided';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { beforeAll, inject } from 'vitest';
import { demo as credentials, stack } from './stack.ts';

const executablePath = inject('chromiumPath');
export const gateway = stack.gateway ?? '';

/** Whether there is a browser, and a gateway that serves the pages. */
export const canLook = executablePath !== null && stack.gateway !== null;

/** Shared by the test files of a worker, with whose process it ends. */
let browser: Browser | undefined;

/** Pages load slowly while other tests use the processor. */
const LIMIT_MS = 240_000;

/** Opens the browser for the tests of a file, unless one is open. */
export const useBrowser = (): void => {
  beforeAll(async () => {
    if (canLook && !browser?.isConnected())
      browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  });
};

/** A page of a profile of its own, and what it did that it should not have. */
export interface Visit extends AsyncDisposable {
  page: Page;
  /** Addresses that are not the gateway's. */
  outside: string[];
  /** What the policy of the page refused, and scripts that failed. */
  faults: string[];
  /** Paths that were asked for. */
  asked: string[];
}

/** Opens a page in a browser without cookies or storage; `demo` puts the demo's credentials into its tab. */
export const visit = async (
  path: string,
  { demo = false, ...options }: BrowserContextOptions & { demo?: boolean } = {},
): Promise<Visit> => {
  if (browser === undefined) throw new Error('the test file must call useBrowser()');
  const context = await browser.newContext(options);
  context.setDefaultTimeout(LIMIT_MS);
  if (demo)
    await context.addInitScript((text) => sessionStorage.setItem('demo', text), JSON.stringify(credentials));
  const page = await context.newPage();
  const [outside, faults, asked]: [string[], string[], string[]] = [[], [], []];
  page.on('request', (request) => {
    const { origin, pathname, protocol } = new URL(request.url());
    if (protocol === 'http:' || protocol === 'https:')
      if (origin === gateway) asked.push(pathname);
      else outside.push(request.url());
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('dialog', (dialog) => {
    faults.push(`a script asked: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) faults.push(message.text());
  });
  await page.goto(gateway + path);
  return { page, outside, faults, asked, [Symbol.asyncDispose]: () => context.close() };
};

export const phone = { viewport: { width: 360, height: 740 } };
export const desktop = { viewport: { width: 1280, height: 900 } };

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
