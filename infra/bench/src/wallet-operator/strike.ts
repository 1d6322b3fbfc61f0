import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inherited } from '../env.ts';
import { loadProgram } from '../load.ts';
import { percentile } from '../figure.ts';
import { fire, type Fired } from '../fire.ts';

export interface Struck {
  /** How many of the prepared requests left, from the first on. */
  sent: number;
  answered: number;
  /** Answers whose status is OK. */
  accepted: number;
  perSecond: number;
  /** In ms. */
  p50: number;
  p99: number;
}

interface Told extends Struck {
  micros: number;
  failed: number;
}

const script = new URL('strike.lua', import.meta.url).pathname;

const withWrk = async (url: string, requests: readonly Buffer[], connections: number, seconds: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'strike-'));
  const file = join(folder, 'requests');
  const out = createWriteStream(file);
  for (const request of requests) if (!out.write(`${request.toString()}\0`)) await once(out, 'drain');
  out.end();
  await once(out, 'close');
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url, '--', file];
  const child = spawn('wrk', args, { env: inherited, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  await closed;
  rmSync(folder, { recursive: true });
  const told = JSON.parse(/^\{.*\}$/m.exec(text)?.[0] ?? '{}') as Told;
  if (told.failed !== 0 || told.sent > requests.length) throw new Error(`wrk did not do as asked: ${text}`);
  return { ...told, perSecond: told.answered / (told.micros / 1e6) };
};

/** Without wrk: as many as fit, by our own means. */
const withFire = async (url: string, requests: readonly Buffer[], connections: number, seconds: number) => {
  const result: Fired = { perSecond: 0, latencies: [], answers: [] };
  const end = performance.now() + seconds * 1000;
  for (let at = 0; performance.now() < end && at < requests.length; at += 500) {
    const { latencies, answers } = await fire(url, requests.slice(at, at + 500), connections);
    result.latencies.push(...latencies);
    result.answers.push(...answers);
  }
  const { answers, latencies } = result;
  return {
    sent: answers.length,
    answered: answers.length,
    accepted: answers.filter((text) => text.includes('"status":"OK"')).length,
    perSecond: answers.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
};

/** Sends each of the requests once for so many seconds. wrk leaves more of the machine to the service than fire does. */
export const strike = (
  url: string,
  requests: readonly Buffer[],
  connections: number,
  seconds: number,
): Promise<Struck> => (loadProgram === 'wrk' ? withWrk : withFire)(url, requests, connections, seconds);
