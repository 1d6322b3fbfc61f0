import { demoCredentials, type DemoCredentials } from './demo.ts';
import { byId } from './element.ts';
import { signCallbacks, type Outgoing } from './sign-callbacks.ts';

interface Scalar {
  createApiReference: (target: Element, configuration: readonly object[]) => unknown;
}

/** Its own file, as its package has it: it loads its parts from beside it. */
const bundle: string = '/docs/assets/scalar/standalone.esm.js';

/** The task manager knows its own users only: the demo's one logs in. */
const logIn = async ({ email, password }: DemoCredentials): Promise<string | undefined> => {
  const answer = await fetch('/api/v1/auth/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  }).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as { accessToken: string }).accessToken : undefined;
};

/** What Scalar fills in for a service, so that its requests work; nothing where there is no demo. */
const authentication = (service: string, demo: DemoCredentials, login: string | undefined): object => ({
  preferredSecurityScheme: service === 'verify-projects' ? [['apiKey', 'bearer']] : 'bearer',
  securitySchemes: {
    bearer: { token: service === 'task-manager' ? login : demo.accessToken },
    apiKey: { value: demo.apiKey },
  },
});

const start = async (): Promise<void> => {
  const demo = await demoCredentials();
  const login = demo && (await logIn(demo));
  const sign = demo?.hmacSecret === undefined ? undefined : signCallbacks(demo.hmacSecret);
  const { createApiReference } = (await import(bundle)) as Scalar;
  createApiReference(
    byId('reference', HTMLElement),
    SERVICES.map(({ name, title }) => ({
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
      ...(sign && { onRequestBuilt: ({ request }: Outgoing) => sign(request) }),
    })),
  );
};

void start();
