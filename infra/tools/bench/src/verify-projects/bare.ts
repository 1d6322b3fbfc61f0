import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { inherited } from '../env.ts';

const program = new URL('bare-express.ts', import.meta.url).pathname;

/** Starts the bare handler on the same database as the service, as a process of its own. */
export const startBare = async (databaseUrl: string) => {
  const child = spawn(process.execPath, [program, databaseUrl], {
    env: { ...inherited, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${String(port)}`,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
};
