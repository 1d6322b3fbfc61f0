/** The environment, read in this file only. Empty values count as not given. */
const value = (name: string): string | undefined => process.env[name] || undefined;

/** What the set-up of the tests takes from outside. */
export const testEnv = () => ({
  postgresUrl: value("TEST_POSTGRES_URL"),
  redisUrl: value("TEST_REDIS_URL"),
  mayInstall: value("PLATFORM_NO_INSTALL") === undefined,
  ci: value("CI") === "true",
});

/** Folders in which programs are looked for. */
export const searchPath = (): string[] => (value("PATH") ?? "").split(":").filter(Boolean);

/** What a child process needs from ours whatever it is: where programs are, language, temporary files. */
export const baseEnv = (): Record<string, string> => {
  const kept = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];
  return Object.fromEntries(
    kept.flatMap((name) => {
      const held = value(name);
      return held === undefined ? [] : [[name, held]];
    }),
  );
};
