/** Variables that every started program needs. */
export const baseEnv = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'USER'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
