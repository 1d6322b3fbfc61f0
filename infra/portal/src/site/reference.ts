import { demoCredentials, type DemoCredentials } from './demo.ts';
import { byId } from './element.ts';
import {
  demoIds,
  addExamples,
  type Document,
  type Operation,
  signCallbacks,
  type BuiltRequest,
} from './fill-in.ts';
import { fetchReadiness } from './readiness.ts';

interface Scalar {
  createApiReference: (target: Element, configuration: readonly object[]) => unknown;
}

/** A separate file, because Scalar loads its other chunks from the same folder. */
const bundle: string = '/docs/assets/scalar/standalone.esm.js';

/** The task manager accepts only tokens of its own users, so the demo user logs in. */
const logIn = async ({ email, password }: DemoCredentials): Promise<string | undefined> => {
  // If the request fails, the reader has to log in.
  const response = await fetch('/api/v1/auth/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  }).catch(() => undefined);
  return response?.ok ? ((await response.json()) as { accessToken: string }).accessToken : undefined;
};

/** Demo credentials that Scalar fills in for a service. */
const authentication = (service: string, demo: DemoCredentials, login: string | undefined): object => ({
  preferredSecurityScheme: service === 'verify-projects' ? [['apiKey', 'bearer']] : 'bearer',
  securitySchemes: {
    bearer: { token: service === 'task-manager' ? login : demo.accessToken },
    apiKey: { value: demo.apiKey },
  },
});

/**
 * A fetch function that changes the OpenAPI document of a service: this origin becomes the server, because the policy of
 * the page allows no other one, and examples come from the demo data. Other responses are not changed.
 */
const withExamples = (service: string, demo: DemoCredentials | undefined): typeof fetch => {
  const suffix = crypto.randomUUID().slice(0, 8);
  return async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
    if (pathname !== `/openapi/${service}.json` || !response.ok) return response;
    const document = (await response.json()) as Document & { servers: { url: string }[] };
    const operations = Object.values(document.paths).flatMap(Object.values<Operation>);
    for (const server of [document, ...operations].flatMap(({ servers = [] }) => servers))
      server.url = new URL(server.url, location.href).pathname;
    return Response.json(demo ? addExamples(document, demoIds(demo), suffix) : document);
  };
};

const start = async (): Promise<void> => {
  const demo = await demoCredentials();
  const login = demo && (await logIn(demo));
  const sign = demo?.hmacSecret === undefined ? undefined : signCallbacks(demo.hmacSecret);
  const { createApiReference } = (await import(bundle)) as Scalar;
  // Undefined: the service is not deployed, so its document does not exist.
  const states = await Promise.all(SERVICES.map(({ name }) => fetchReadiness(name)));
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
      ...(sign && { onRequestBuilt: ({ request }: BuiltRequest) => sign(request) }),
    })),
  );
};

/** Adds names and roles that Scalar lacks and screen readers need. Runs again when Scalar renders more content. */
const fixAccessibility = (): void => {
  const page = byId('reference', HTMLElement);
  for (const button of page.querySelectorAll('.scalar-code-copy:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy the code');
  for (const button of page.querySelectorAll('.show-more[aria-label]')) button.removeAttribute('aria-label');
  for (const list of page.querySelectorAll('ul.endpoints:not([tabindex])'))
    list.setAttribute('tabindex', '0');
  // Examples of several operations have the same name.
  for (const examples of page.querySelectorAll('.response-card[role=region]'))
    examples.setAttribute('role', 'group');
  // The page already has a header.
  for (const header of page.querySelectorAll('header:not([role])')) {
    header.setAttribute('role', 'presentation');
    header.parentElement?.setAttribute('role', 'region');
    header.parentElement?.setAttribute('aria-label', 'Current operation');
  }
};

new MutationObserver(fixAccessibility).observe(byId('reference', HTMLElement), {
  childList: true,
  subtree: true,
});
void start();
