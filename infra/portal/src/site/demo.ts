import { withStorage } from './storage.ts';

/** Credentials of the demo data, which `start` gives out in exchange for a code; a deployment has none. */
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
  /** What its data are called, for requests to begin with. */
  questId?: string;
  store?: { id: string; webhookToken: string };
}

/** Keeps the credentials for this tab; only pages of this origin can read it. */
const key = 'demo';

/** Without storage, which the browser may refuse, the credentials last as long as the page. */
let unstored: string | undefined;

const keep = (text: string): void => {
  unstored = text;
  withStorage('sessionStorage', (storage) => storage.setItem(key, text));
};

/** Removes credentials that are not valid any more. */
export const forgetDemo = (): void => {
  unstored = undefined;
  withStorage('sessionStorage', (storage) => storage.removeItem(key));
};

const codeIn = (fragment: string): string | undefined => /^#code=([\w-]+)$/.exec(fragment)?.[1];

// The link that `start` prints changes only the fragment in a tab that shows the page already.
addEventListener('hashchange', () => {
  if (codeIn(location.hash) !== undefined) location.reload();
});

/** The one-time code of `/docs/#code=…`, which `start` prints. It is taken out of the address and the history. */
const takeCode = (): string | undefined => {
  const code = codeIn(location.hash);
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
};

const exchange = async (code: string): Promise<void> => {
  // Without an answer the page works as in a tab without a code.
  const answer = await fetch('/docs/demo', {
    method: 'POST',
    credentials: 'omit',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch(() => undefined);
  if (answer?.ok) keep(await answer.text());
};

/** The credentials of the demo data in a tab that was opened with a code of `start`; undefined in any other. */
export const demoCredentials = async (): Promise<DemoCredentials | undefined> => {
  const code = takeCode();
  if (code !== undefined) await exchange(code);
  const text = withStorage('sessionStorage', (storage) => storage.getItem(key)) ?? unstored;
  return text === undefined ? undefined : (JSON.parse(text) as DemoCredentials);
};
