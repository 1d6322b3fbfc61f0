import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Load {
  url: string;
  connections: number;
  seconds: number;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

/** `latency` in ms. */
export interface LoadResult {
  perSecond: number;
  latency: { p50: number; p99: number };
  /** Answers outside 2xx, and requests without an answer. */
  failed: number;
}

const output = async (program: string, args: string[]): Promise<string> => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return text;
};

const quoted = (value: string): string => JSON.stringify(value);

const milliseconds = (text: string | undefined): number => {
  const [, value, unit] = /([\d.]+)(us|ms|s)/.exec(text ?? '') ?? [];
  return Number(value) * (unit === 'us' ? 0.001 : unit === 's' ? 1000 : 1);
};

/** wrk is told about methods and bodies by a script. */
const withWrk = async ({
  url,
  connections,
  seconds,
  method = 'GET',
  headers = {},
  body,
}: Load): Promise<LoadResult> => {
  const folder = mkdtempSync(join(tmpdir(), 'wrk-'));
  const script = join(folder, 'request.lua');
  const lines = [
    `wrk.method = ${quoted(method)}`,
    ...(body === undefined ? [] : [`wrk.body = ${quoted(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`),
  ];
  writeFileSync(script, lines.join('\n'));
  const text = await output('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '-s',
    script,
    url,
  ]);
  rmSync(folder, { recursive: true });
  const count = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
  const socketErrors =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? [];
  return {
    perSecond: count(/Requests\/sec:\s+([\d.]+)/),
    latency: {
      p50: milliseconds(/^\s*50%\s+(\S+)/m.exec(text)?.[1]),
      p99: milliseconds(/^\s*99%\s+(\S+)/m.exec(text)?.[1]),
    },
    failed: socketErrors.reduce((sum, one) => sum + Number(one), count(/Non-2xx or 3xx responses: (\d+)/)),
  };
};

interface Autocannon {
  requests: { average: number };
  latency: { p50: number; p99: number };
  errors: number;
  non2xx: number;
}

const withAutocannon = async ({
  url,
  connections,
  seconds,
  method = 'GET',
  headers = {},
  body,
}: Load): Promise<LoadResult> => {
  const text = await output('autocannon', [
    '--json',
    ...Object.entries({ '-c': connections, '-d': seconds, '-m': method }).flatMap(([flag, value]) => [
      flag,
      String(value),
    ]),
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
    ...(body === undefined ? [] : ['-b', body]),
    url,
  ]);
  const { requests, latency, errors, non2xx } = JSON.parse(text) as Autocannon;
  return {
    perSecond: requests.average,
    latency: { p50: latency.p50, p99: latency.p99 },
    failed: errors + non2xx,
  };
};

const hasWrk = spawnSync('wrk', ['-v']).error === undefined;

/** Which program makes the load; wrk leaves more of the machine to the server. */
export const loadProgram = hasWrk ? 'wrk' : 'autocannon';

/** One core of load on one address. */
export const load = (plan: Load): Promise<LoadResult> => (hasWrk ? withWrk(plan) : withAutocannon(plan));
