import { readFile } from 'node:fs/promises';
import type { DemoCredentials } from '../src/site/demo.ts';

/** The newest code in the output of `start`. */
export const lastCode = async (outputFile: string): Promise<string> => {
  const codes = (await readFile(outputFile, 'utf8')).matchAll(/#code=([\w-]+)/g);
  return [...codes].at(-1)?.[1] ?? '';
};

/** Exchanges a code like the portal. @throws when the code is refused */
export const openDemo = async (gateway: string, code: string): Promise<DemoCredentials> => {
  const response = await fetch(`${gateway}/docs/demo`, { method: 'POST', body: JSON.stringify({ code }) });
  if (!response.ok) throw new Error(`the code was refused: ${await response.text()}`);
  return (await response.json()) as DemoCredentials;
};
