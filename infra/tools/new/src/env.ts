/**
 * Returns the path of pnpm's script, to be run with Node: pnpm may not be on the PATH.
 * @throws when this program was not started by pnpm
 */
export const pnpmScript = (): string => {
  const script = process.env['npm_execpath'];
  if (script) return script;
  throw new Error('Start this with pnpm: npx -y pnpm@10.34.9 new service NAME --resource NOUN');
};
