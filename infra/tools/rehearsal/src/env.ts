/** Settings of compose and of traces, which would change the deployment that is rehearsed. */
const UNWANTED = ['COMPOSE_', 'OTEL_'];

/** The environment of this process without `UNWANTED`, with changes; `undefined` removes a variable. */
export const environment = (changes: Record<string, string | undefined> = {}): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !UNWANTED.some((prefix) => name.startsWith(prefix))),
  ),
  ...changes,
});

/** The folders in which programs are searched. */
export const searchPath = (): string[] => (process.env['PATH'] ?? '').split(':');

/** Address of a Docker engine, when one is given. */
export const dockerHost = (): string | undefined => process.env['DOCKER_HOST'];
