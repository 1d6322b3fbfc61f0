import { withStorage } from './storage.ts';

/** Credentials of the demo data, which `start` exchanges for a code. A deployment has none. */
export interface DemoCredentials {
  /** Access token with every scope. */
  accessToken: string;
  /** API key of the verification projects. */
  apiKey?: string;
  /** Shared secret of the game server. */
  hmacSecret?: string;
  /** Login of the task manager. */
  email?: string;
  password?: string;
  /** A store of the demo data, for first requests. */
  store?: { id: string; webhookToken: string };
}

/** Key in the session storage of this tab, which only pages of this origin can read. */
const key = 'demo';

/** Fallback if the browser blocks storage: the credentials are lost when the page closes. */
let unstored: string | undefined;

const store = (text: string): void => {
  unstored = text;
  withStorage('sessionStorage', (storage) => storage.setItem(key, text));
};

/** Removes credentials that are no longer valid. */
export const forgetDemo = (): void => {
  unstored = undefined;
  withStorage('sessionStorage', (storage) => storage.removeItem(key));
};

const codeIn = (fragment: string): string | undefined => /^#code=([\w-]+)$/.exec(fragment)?.[1];

// In a tab that already shows the page, the link that `start` prints changes only the fragment.
addEventListener('hashchange', () => {
  if (codeIn(location.hash) !== undefined) location.reload();
});

/** Returns the one-time code of `/docs/#code=…`, which `start` prints, and removes it from the address and the history. */
const takeCode = (): string | undefined => {
  const code = codeIn(location.hash);
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
};

const exchange = async (code: string): Promise<void> => {
  // If the request fails, the page works like a tab without a code.
  const response = await fetch('/docs/demo', {
    method: 'POST',
    credentials: 'omit',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch(() => undefined);
  if (response?.ok) store(await response.text());
};

/** The demo credentials if this tab was opened with a code of `start`, otherwise undefined. */
export const demoCredentials = async (): Promise<DemoCredentials | undefined> => {
  const code = takeCode();
  if (code !== undefined) await exchange(code);
  const text = withStorage('sessionStorage', (storage) => storage.getItem(key)) ?? unstored;
  return text === undefined ? undefined : (JSON.parse(text) as DemoCredentials);
};
