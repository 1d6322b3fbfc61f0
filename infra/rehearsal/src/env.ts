/** The environment of this process with changes; `undefined` removes a variable. */
export const environment = (changes: Record<string, string | undefined> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  ...changes,
});

/** The folders in which programs are searched. */
export const searchPath = (): string[] => (process.env['PATH'] ?? '').split(':');

/** Address of a Docker engine, when one is given. */
export const dockerHost = (): string | undefined => process.env['DOCKER_HOST'];
