import { readFile } from 'node:fs/promises';
import type { DemoCredentials } from '../src/site/demo.ts';

/** The newest code in the output of `start`. */
export const lastCode = async (printed: string): Promise<string> => {
  const codes = (await readFile(printed, 'utf8')).matchAll(/#code=([\w-]+)/g);
  return [...codes].at(-1)?.[1] ?? '';
};

/** Exchanges a code as the portal does; throws when it is refused. */
export const openDemo = async (gateway: string, code: string): Promise<DemoCredentials> => {
  const answer = await fetch(`${gateway}/docs/demo`, { method: 'POST', body: JSON.stringify({ code }) });
  if (!answer.ok) throw new Error(`the code was refused: ${await answer.text()}`);
  return (await answer.json()) as DemoCredentials;
};
