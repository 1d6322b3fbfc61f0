import { demoCredentials, type DemoCredentials } from './demo.ts';
import { byId } from './element.ts';
import { demoIds, fillIn, type Document, signCallbacks, type Outgoing } from './fill-in.ts';
import { askReadiness } from './readiness.ts';

interface Scalar {
  createApiReference: (target: Element, configuration: readonly object[]) => unknown;
}

/** A separate file, because Scalar loads its other parts from the same folder. */
const bundle: string = '/docs/assets/scalar/standalone.esm.js';

/** The task manager accepts only tokens of its own users, so the demo user logs in. */
const logIn = async ({ email, password }: DemoCredentials): Promise<string | undefined> => {
  // Without an answer the reader has to log in.
  const answer = await fetch('/api/v1/auth/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  }).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as { accessToken: string }).accessToken : undefined;
};

/** Credentials that Scalar fills in for a service of the demo. */
const authentication = (service: string, demo: DemoCredentials, login: string | undefined): object => ({
  preferredSecurityScheme: service === 'verify-projects' ? [['apiKey', 'bearer']] : 'bearer',
  securitySchemes: {
    bearer: { token: service === 'task-manager' ? login : demo.accessToken },
    apiKey: { value: demo.apiKey },
  },
});

/**
 * Fetches the document of a service, with this origin as its server, because a browser sends no requests to another one,
 * and with examples from the demo data; changes no other response.
 */
const withExamples = (service: string, demo: DemoCredentials | undefined): typeof fetch => {
  const once = crypto.randomUUID().slice(0, 8);
  return async (input, init) => {
    const answer = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
    if (pathname !== `/openapi/${service}.json` || !answer.ok) return answer;
    const document = (await answer.json()) as Document & { servers: { url: string }[] };
    for (const server of document.servers) server.url = new URL(server.url, location.href).pathname;
    return Response.json(demo ? fillIn(document, demoIds(demo), once) : document);
  };
};

const start = async (): Promise<void> => {
  const demo = await demoCredentials();
  const login = demo && (await logIn(demo));
  const sign = demo?.hmacSecret === undefined ? undefined : signCallbacks(demo.hmacSecret);
  const { createApiReference } = (await import(bundle)) as Scalar;
  // Undefined: not deployed, so that its document is 404.
  const states = await Promise.all(SERVICES.map(({ name }) => askReadiness(name)));
  createApiReference(
    byId('reference', HTMLElement),
    SERVICES.filter((_, index) => states[index]).map(({ name, title }) => ({
      title,
      slug: name,
      url: `/openapi/${name}.json`,
      theme: 'none',
      withDefaultFonts: false,
      hideDarkModeToggle: true,
      showDeveloperTools: 'never',
      hideClientButton: true,
      telemetry: false,
      persistAuth: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      documentDownloadType: 'json',
      defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
      ...(demo && { authentication: authentication(name, demo, login) }),
      customFetch: withExamples(name, demo),
      ...(sign && { onRequestBuilt: ({ request }: Outgoing) => sign(request) }),
    })),
  );
};

/** What Scalar leaves without a name or a role that assistive programs need. It draws parts while the reader scrolls. */
const mend = (): void => {
  const page = byId('reference', HTMLElement);
  for (const button of page.querySelectorAll('.scalar-code-copy:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy the code');
  for (const button of page.querySelectorAll('.show-more[aria-label]')) button.removeAttribute('aria-label');
  for (const list of page.querySelectorAll('ul.endpoints:not([tabindex])'))
    list.setAttribute('tabindex', '0');
  // Examples of several operations have the same name.
  for (const examples of page.querySelectorAll('.response-card[role=region]'))
    examples.setAttribute('role', 'group');
  // The page has a header of its own.
  for (const header of page.querySelectorAll('header:not([role])')) {
    header.setAttribute('role', 'presentation');
    header.parentElement?.setAttribute('role', 'region');
    header.parentElement?.setAttribute('aria-label', 'Current operation');
  }
};

new MutationObserver(mend).observe(byId('reference', HTMLElement), { childList: true, subtree: true });
void start();
