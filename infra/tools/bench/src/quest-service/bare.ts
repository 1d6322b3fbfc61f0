import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inherited } from '../env.ts';

const baseline = new URL('bare-express.ts', import.meta.url).pathname;

/** Starts a bare Express handler that sends these bytes. */
export const startBare = async (bytes: Buffer) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(folder, 'page.json');
  writeFileSync(file, bytes);
  const child = spawn(process.execPath, [baseline, file], {
    env: { ...inherited, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [address] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: String(address).trim(),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, 'exit');
      rmSync(folder, { recursive: true });
    },
  };
};
