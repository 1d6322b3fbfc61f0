import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentile } from '../figure.ts';
import { loadProgram } from '../load.ts';
import { fire } from '../fire.ts';
import { bodies, requests } from './orders.ts';

const connections = 64;
const idDigits = 8;

export interface Sent {
  answered: number;
  perSecond: number;
  /** In ms. */
  p99: number;
}

interface Told {
  answered: number;
  micros: number;
  p99: number;
  failed: number;
}

const script = new URL('hook.lua', import.meta.url).pathname;

const withWrk = (address: string, prefix: string, seconds: number): Sent => {
  const mark = '#'.repeat(idDigits);
  const [request] = requests(
    address,
    bodies(prefix, 1, () => mark),
  );
  const [before = '', after = ''] = String(request).split(mark);
  const folder = mkdtempSync(join(tmpdir(), 'hooks-'));
  const files = ['before', 'after'].map((name) => join(folder, name));
  writeFileSync(files[0] ?? '', before);
  writeFileSync(files[1] ?? '', after);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, address, '--'];
  const { stdout, stderr } = spawnSync('wrk', [...args, ...files], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const told = JSON.parse(/^\{.*\}$/m.exec(stdout)?.[0] ?? '{"failed":-1}') as Told;
  if (told.failed !== 0) throw new Error(`not every webhook was taken: ${stdout}${stderr}`);
  return { answered: told.answered, perSecond: told.answered / (told.micros / 1e6), p99: told.p99 };
};

const withFire = async (address: string, prefix: string, seconds: number): Promise<Sent> => {
  const latencies: number[] = [];
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  for (let slice = 0; elapsed() < seconds; slice++) {
    const fired = await fire(address, requests(address, bodies(`${prefix}-${slice}`, 2000)), connections);
    if (fired.answers.some((answer) => answer !== '{}')) throw new Error('a webhook was not taken');
    latencies.push(...fired.latencies);
  }
  return {
    answered: latencies.length,
    perSecond: latencies.length / elapsed(),
    p99: percentile(latencies, 0.99),
  };
};

/**
 * Sends orders that all differ for so many seconds; throws unless all were taken. wrk leaves more of the
 * machine to the service than our own means do.
 */
export const sendOrders = async (address: string, prefix: string, seconds: number): Promise<Sent> =>
  loadProgram === 'wrk' ? withWrk(address, prefix, seconds) : withFire(address, prefix, seconds);
