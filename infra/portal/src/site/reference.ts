import { demoCredentials, type DemoCredentials } from './demo.ts';
import { byId } from './element.ts';

interface Scalar {
  createApiReference: (target: Element, configuration: Record<string, unknown>) => unknown;
}

const securitySchemes = ({ accessToken, apiKey }: DemoCredentials) => ({
  bearer: { token: accessToken },
  ...(apiKey !== undefined && { apiKey: { value: apiKey } }),
});

const credentials = await demoCredentials();
// Its own file, as its package has it: it loads its parts from beside it.
const { createApiReference } = (await import('/docs/assets/scalar/standalone.esm.js' as string)) as Scalar;

createApiReference(byId('reference', HTMLElement), {
  sources: SERVICES.map(({ name, title }) => ({ title, slug: name, url: `/openapi/${name}.json` })),
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
  ...(credentials && { authentication: { securitySchemes: securitySchemes(credentials) } }),
});
