import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { inherited } from './env.ts';

export interface Program extends AsyncDisposable {
  url: string;
}

/**
 * Starts a baseline that is written in TypeScript, as a process of its own with the Node options of the image.
 * @param argument what the program gets as its first argument
 * @returns the address that it prints when it is ready
 * @throws when it ends before
 */
export const startProgram = async (file: URL, argument: string, nodeOptions: string): Promise<Program> => {
  const child = spawn(process.execPath, [file.pathname, argument], {
    env: { ...inherited, NODE_ENV: 'production', NODE_OPTIONS: nodeOptions },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [address] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number | null];
  if (!(address instanceof Buffer)) throw new Error(`${file.pathname} ended before it was ready`);
  return {
    url: address.toString().trim(),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
};
