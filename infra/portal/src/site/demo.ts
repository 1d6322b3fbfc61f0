/** Credentials of the demo data, as `start` writes them on this machine; a deployment has none. */
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
  playerId?: string;
  gameCode?: string;
}

/** The credentials of the demo stack; undefined anywhere else. */
export const demoCredentials = async (): Promise<DemoCredentials | undefined> => {
  const answer = await fetch('/docs/demo.json', { credentials: 'omit', cache: 'no-store' }).catch(
    () => undefined,
  );
  return answer?.ok ? ((await answer.json()) as DemoCredentials) : undefined;
};
