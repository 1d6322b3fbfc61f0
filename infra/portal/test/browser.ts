import type {} from '@platform/local/provided';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { beforeAll, inject } from 'vitest';
import { demo as credentials, stack } from './stack.ts';

const executablePath = inject('chromiumPath');
export const gateway = stack.gateway ?? '';

/** Whether a browser is installed, and a gateway serves the pages. */
export const hasBrowser = executablePath !== null && stack.gateway !== null;

/** Shared by the test files of a worker; it ends with the process of the worker. */
let browser: Browser | undefined;

/** Pages load slowly while other tests use the processor. */
const LIMIT_MS = 240_000;

/** Opens the browser for the tests of a file, unless one is open. */
export const useBrowser = (): void => {
  beforeAll(async () => {
    if (hasBrowser && !browser?.isConnected())
      browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  });
};

/** A page with its own browser profile, and a record of its requests and faults. */
export interface Visit extends AsyncDisposable {
  page: Page;
  /** Requested addresses of other hosts than the gateway. */
  outside: string[];
  /** Violations of the Content-Security-Policy, errors of scripts, and script dialogs. */
  faults: string[];
  /** Requested paths of the gateway. */
  requestedPaths: string[];
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
  const [outside, faults, requestedPaths]: [string[], string[], string[]] = [[], [], []];
  page.on('request', (request) => {
    const { origin, pathname, protocol } = new URL(request.url());
    if (protocol === 'http:' || protocol === 'https:')
      if (origin === gateway) requestedPaths.push(pathname);
      else outside.push(request.url());
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('dialog', (dialog) => {
    faults.push(`a script opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) faults.push(message.text());
  });
  await page.goto(gateway + path);
  return { page, outside, faults, requestedPaths, [Symbol.asyncDispose]: () => context.close() };
};

export const phone = { viewport: { width: 360, height: 740 } };
export const desktop = { viewport: { width: 1280, height: 900 } };

const colorSchemes = ['light', 'dark'] as const;

/** The violations that axe reports, each with its element. The visit needs `bypassCSP`. */
export const violations = async (page: Page, ...rules: string[]): Promise<string[]> => {
  const isLoaded = await page.evaluate(() => 'axe' in globalThis);
  if (!isLoaded) await page.evaluate(axe.source);
  return page.evaluate(async (runOnly) => {
    const result = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      // Saves time: axe builds no selectors for the thousands of nodes without a violation, and does not return them.
      resultTypes: ['violations'],
      // `target-size` belongs to WCAG 2.2, which axe does not check by default.
      ...(runOnly.length > 0 ? { runOnly } : { rules: { 'target-size': { enabled: true } } }),
    });
    return result.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, rules);
};

/**
 * The violations that axe reports in light and dark mode, and by how many pixels the page is wider than the screen. Dark mode
 * differs only in colours. The visit needs `reducedMotion`, because contrast cannot be measured during a transition.
 */
export const pageFaults = async (page: Page): Promise<{ violations: string[]; overflow: number }> => {
  const reported: string[] = [];
  let overflow = 0;
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme });
    // Scripts change the colours in the next frame, and even the shortest transition takes another one.
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await page.waitForFunction(
      () => !document.getAnimations().some((animation) => animation instanceof CSSTransition),
    );
    reported.push(...(await violations(page, ...(colorScheme === 'dark' ? ['color-contrast'] : []))));
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    overflow = Math.max(overflow, excess);
  }
  return { violations: reported, overflow };
};

/** Result of `pageFaults` for a page without faults. */
export const noFaults = { violations: [], overflow: 0 };
