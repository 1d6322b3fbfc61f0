/** What a program that the tests start needs of our environment; read in this file only. */
export const baseEnv = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER'].flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value]] : [];
    }),
  );
