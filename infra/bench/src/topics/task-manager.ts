import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentile, repeat, type Figure, type Topic } from '../figure.ts';
import { residentMemory, startGround, startService, type BenchService } from '../service.ts';
import { fill, listing, login, register, type Person } from '../task-manager/people.ts';

const rounds = 200;

/** Medians of page 1 and page 500, asked for in turn. */
const pages = async (service: BenchService, owner: Person) => {
  const first: number[] = [];
  const last: number[] = [];
  for (let round = 0; round < rounds; round++) {
    first.push((await listing(service, owner, 1)).ms);
    last.push((await listing(service, owner, 500)).ms);
  }
  return { first: median(first), last: median(last) };
};

/** 100 logins at once; meanwhile somebody lists tasks, every 10 ms. */
const rush = async (service: BenchService, owner: Person) => {
  const rushing = new AbortController();
  const waits: Promise<{ ms: number }>[] = [];
  const watch = async () => {
    while (!rushing.signal.aborted) {
      waits.push(listing(service, owner, 1));
      await sleep(10);
    }
  };
  const watching = watch();
  const start = performance.now();
  const emails = Array.from({ length: 100 }, (_, n) => `user-${n + 1}@example.test`);
  const logins = await Promise.all(emails.map((email) => login(service, email)));
  const took = performance.now() - start;
  rushing.abort();
  await watching;
  const lists = (await Promise.all(waits)).map(({ ms }) => ms);
  return { p99: percentile(lists, 0.99), took, good: logins.filter(({ status }) => status === 200).length };
};

const measure = async (): Promise<Figure[]> => {
  await using ground = await startGround();
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = JSON.stringify(privateKey.export({ format: 'jwk' }));
  await using service = await startService('task-manager', ground, { AUTH_SIGNING_KEY: key });
  const memory = await repeat(3, async () => {
    await service.restart();
    await sleep(3000);
    return residentMemory(service.pid);
  });
  const owner = await register(service);
  await fill(service, owner, 10_000, 500);
  await pages(service, owner);
  const lists = await repeat(3, () => pages(service, owner));
  const rushes = await repeat(3, () => rush(service, owner));
  return [
    {
      what: 'GET /tasks, 20 tasks of a user who owns 10,000, p50',
      bound: '≤ 5 ms',
      samples: lists.map(({ first }) => first),
      unit: 'ms',
      holds: (ms) => ms <= 5,
    },
    {
      what: 'GET /tasks, page 500 against page 1, p50',
      bound: '≤ 1.5 ×',
      samples: lists.map(({ first, last }) => last / first),
      unit: '×',
      holds: (ratio) => ratio <= 1.5,
    },
    {
      what: 'GET /tasks during 100 logins at once, p99',
      bound: '≤ 250 ms',
      samples: rushes.map(({ p99 }) => p99),
      unit: 'ms',
      holds: (ms) => ms <= 250,
      note: `${median(rushes.map(({ good }) => good))} of 100 logins succeed, the last after ${Math.round(median(rushes.map(({ took }) => took)))} ms`,
    },
    {
      what: 'Resident memory, idle',
      bound: '≤ 120 MB',
      samples: memory,
      unit: 'MB',
      holds: (megabytes) => megabytes <= 120,
    },
  ];
};

export const topic: Topic = { title: 'task-manager', measure };
