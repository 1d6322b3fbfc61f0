/**
 * The pnpm that runs us, as a script for Node: it need not be on the PATH. Read here only.
 * @throws when this was not started by pnpm
 */
export const pnpmScript = (): string => {
  const script = process.env['npm_execpath'];
  if (script) return script;
  throw new Error('Start this with pnpm: npx -y pnpm@10.34.9 new service NAME');
};
