/** How long `start` takes, and what an idle service weighs. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inherited } from '../env.ts';
import type { Figure, Topic } from '../figure.ts';
import { residentMemory } from '../service.ts';

const root = new URL('../../../../../', import.meta.url).pathname;
const program = join(root, 'infra/local/src/start.ts');

/** Ports beside the usual ones, so that a running stack is left alone. */
const ports = { GATEWAY_PORT: '18080', PORT_BASE: '14100' };

interface Stack {
  services: Record<string, { pid: number }>;
}

/** Starts a stack on `folder`; resolves when it says that everything is ready. */
const start = async (folder: string): Promise<{ child: ChildProcess; seconds: number }> => {
  const began = performance.now();
  const child = spawn(process.execPath, [program, '--local', folder], {
    // As `pnpm start` does.
    env: { ...inherited, ...ports, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/start') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
    if (said.includes('everything is ready')) resolve();
  });
  child.once('exit', () => reject(new Error(`start ended early:\n${said}`)));
  await ready;
  return { child, seconds: (performance.now() - began) / 1000 };
};

const stop = async (child: ChildProcess): Promise<void> => {
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  await exited;
};

const oneRun = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-start-'));
  try {
    const first = await start(folder);
    await stop(first.child);
    const second = await start(folder);
    await sleep(5000);
    const { services } = JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')) as Stack;
    const memory = Object.entries(services).map(([name, { pid }]) => ({
      name,
      megabytes: residentMemory(pid),
    }));
    await stop(second.child);
    return { first: first.seconds, second: second.seconds, memory };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const measure = async (): Promise<Figure[]> => {
  const runs = [await oneRun(), await oneRun(), await oneRun()];
  const names = runs[0]?.memory.map(({ name }) => name) ?? [];
  return [
    {
      what: 'empty data → all services ready',
      bound: '≤ 30 s',
      samples: runs.map(({ first }) => first),
      unit: 's',
      holds: (value) => value <= 30,
      note: `${names.length} services`,
    },
    {
      what: 'a second start',
      bound: '≤ 10 s',
      samples: runs.map(({ second }) => second),
      unit: 's',
      holds: (value) => value <= 10,
    },
    ...names.map((name): Figure => ({
      what: `resident memory, ${name}, idle`,
      bound: '≤ 120 MB',
      samples: runs.map(({ memory }) => memory.find((one) => one.name === name)?.megabytes ?? Number.NaN),
      unit: 'MB',
      holds: (value) => value <= 120,
    })),
  ];
};

export const topic: Topic = { title: 'Starting the platform', measure };
