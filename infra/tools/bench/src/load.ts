import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inherited } from './env.ts';

/** An HTTP request as wrk sends it. */
export interface LoadRequest {
  method?: 'GET' | 'POST';
  /** Path and query. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Placeholder in a body: load.lua replaces it by a number that is unique for each request it sends. */
export const COUNTER = '########';

export interface Load {
  /** Scheme, host and port. */
  url: string;
  /** Sent in this order, over and over until the time is up. */
  requests: readonly LoadRequest[];
  connections: number;
  seconds: number;
  /** A response is accepted when its body contains this text; default: every 2xx is accepted. */
  acceptedText?: string;
  /** Requests a second over all connections; default: each is sent as soon as the last one is answered. */
  perSecond?: number;
  /** Called just before the first request: preparing a long list of requests takes seconds. */
  onStart?: () => void;
}

/** Latencies in ms. */
export interface LoadResult {
  /** Requests that load.lua created; wrk discards the first one, and the last ones may be unanswered. */
  sent: number;
  answered: number;
  accepted: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** Responses other than 2xx and 3xx, time-outs and broken connections. */
  failed: number;
}

const script = new URL('load.lua', import.meta.url).pathname;

const rawRequest = (url: string, { method = 'GET', path, headers = {}, body = '' }: LoadRequest): string => {
  const fields = { Host: new URL(url).host, ...headers, 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
};

/**
 * Sends requests with wrk on one core. wrk needs less CPU than a generator in JavaScript, so the service gets more.
 * @throws when wrk is missing or fails
 */
export const load = async ({
  url,
  requests,
  connections,
  seconds,
  acceptedText = '',
  perSecond,
  onStart,
}: Load): Promise<LoadResult> => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  try {
    const file = join(folder, 'requests');
    const out = createWriteStream(file);
    for (const request of requests) if (!out.write(`${rawRequest(url, request)}\0`)) await once(out, 'drain');
    out.end();
    await once(out, 'close');
    const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script];
    // Each connection pauses between its requests.
    const pause = perSecond === undefined ? '' : String((1000 * connections) / perSecond);
    const child = spawn('wrk', [...flags, url, '--', file, acceptedText, pause], {
      env: inherited,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.once('spawn', () => onStart?.());
    child.on('error', (cause) => {
      throw new Error('Install wrk to run the benchmarks (Debian: apt-get install wrk).', { cause });
    });
    const output = await text(child.stdout);
    const [json] = /^\{.*\}$/m.exec(output) ?? [];
    if (json === undefined) throw new Error(`wrk failed: ${output}`);
    const { micros, ...result } = JSON.parse(json) as LoadResult & { micros: number };
    return { ...result, perSecond: result.answered / (micros / 1e6) };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
