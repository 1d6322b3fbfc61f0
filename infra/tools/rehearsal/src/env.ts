/** Prefixes of variables of compose and OpenTelemetry, which would change the rehearsed deployment. */
const UNWANTED = ['COMPOSE_', 'OTEL_'];

/** The environment of this process without `UNWANTED`, with `changes`; `undefined` removes a variable. */
export const environment = (changes: Record<string, string | undefined> = {}): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !UNWANTED.some((prefix) => name.startsWith(prefix))),
  ),
  ...changes,
});

/** The folders of the PATH. */
export const searchPath = (): string[] => (process.env['PATH'] ?? '').split(':');

/** Address of the Docker engine, if set. */
export const dockerHost = (): string | undefined => process.env['DOCKER_HOST'];
