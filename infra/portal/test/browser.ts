import type {} from '@platform/local/provided';
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
