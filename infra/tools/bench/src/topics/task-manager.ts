import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentile, repeat, type Figure, type Topic } from '../figure.ts';
import { residentMemory, startBackingServices, startService, type BenchService } from '../service.ts';
import { fill, listing, login, register, registerNew, type Person } from '../task-manager/people.ts';

const rounds = 200;

/** Medians of page 1 and page 500, requested alternately. */
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

/** 280 registrations a second for five seconds; meanwhile known users log in, one every 100 ms. */
const flood = async (service: BenchService) => {
  const registrations: Promise<number>[] = [];
  const logins: Promise<{ status: number; ms: number }>[] = [];
  const start = performance.now();
  for (let tick = 0; tick < 500; tick++) {
    const due = Math.floor((tick + 1) * 2.8);
    while (registrations.length < due) registrations.push(registerNew(service));
    if (tick % 10 === 0) logins.push(login(service, `user-${1 + (tick % 500)}@example.test`));
    await sleep(Math.max(0, start + (tick + 1) * 10 - performance.now()));
  }
  const seconds = (performance.now() - start) / 1000;
  const answers = await Promise.all(logins);
  const created = (await Promise.all(registrations)).filter((status) => status === 201).length;
  return {
    slowest: Math.max(...answers.map(({ ms }) => ms)),
    good: answers.filter(({ status }) => status === 200).length,
    sent: Math.round(registrations.length / seconds),
    created,
  };
};

const measure = async (): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = JSON.stringify(privateKey.export({ format: 'jwk' }));
  await using service = await startService('task-manager', backing, { AUTH_SIGNING_KEY: key });
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
  const floods = await repeat(3, async () => {
    // Without the counts of the last run, so that registrations are hashed in each run.
    await service.restart({ RATE_LIMIT: 'on', REDIS_URL: '' });
    return flood(service);
  });
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
      what: 'Slowest login during 280 registrations a second from the same address',
      bound: '≤ 500 ms',
      samples: floods.map(({ slowest }) => slowest),
      unit: 'ms',
      holds: (ms) => ms <= 500 && floods.every(({ good }) => good === 50),
      note: floods
        .map(({ good, sent, created }) => `${good} of 50 logins succeed; ${sent} /s sent, ${created} created`)
        .join('; '),
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
