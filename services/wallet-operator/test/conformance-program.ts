import { execFile } from 'node:child_process';

export const conformanceProgram = new URL('../../../packages/wallet-conformance/src/main.ts', import.meta.url)
  .pathname;

/** Runs `pnpm wallet-conformance` with these arguments. */
export const runConformance = (...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [conformanceProgram, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
