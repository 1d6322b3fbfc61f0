import { setTimeout as sleep } from 'node:timers/promises';
import { median, repeat, type Figure, type Topic } from '../figure.ts';
import { load } from '../load.ts';
import { startBare } from '../quest-service/bare.ts';
import { analyse, fillQuest, pageOf } from '../quest-service/quests.ts';
import { residentMemory, startBackingServices, startService, type BenchService } from '../service.ts';

/** Requests per second of a cached list, and the ratio to the baseline measured just before. */
const hot = async (service: BenchService, bareUrl: string, path: string, seconds = 6) => {
  const plan = { connections: 20, seconds, requests: [{ path }] };
  const bare = await load({ ...plan, url: bareUrl });
  const ours = await load({ ...plan, url: service.url });
  if (ours.failed > 0) throw new Error(`${ours.failed} requests failed`);
  return { ratio: ours.perSecond / bare.perSecond, perSecond: ours.perSecond };
};

/** Ratio of the median times of the last and the first page, requested alternately. */
const depth = async (service: BenchService, path: string) => {
  const timed = async (query: string): Promise<number> => {
    const start = performance.now();
    await pageOf(service, path + query);
    return performance.now() - start;
  };
  const first: number[] = [];
  const last: number[] = [];
  for (let round = 0; round < 300; round++) {
    first.push(await timed('?Skip=0&Take=100'));
    last.push(await timed('?Skip=9900&Take=100'));
  }
  return median(last) / median(first);
};

const measure = async (): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  await using service = await startService('quest-service', backing);
  // The first process fills the compile cache; the next one starts from it, as the image does.
  await service.restart();
  await sleep(5000);
  const memory = await repeat(3, async () => (await sleep(500), residentMemory(service.pid)));

  const short = await fillQuest(service, 25);
  const long = await fillQuest(service, 10_000);
  await analyse(service);
  await sleep(2000);
  const bytes = await pageOf(service, short);
  await using bare = await startBare(bytes);
  // V8 optimises a hot path for longer than one measurement takes.
  await hot(service, bare.url, short, 20);
  const hots = await repeat(5, () => hot(service, bare.url, short));

  await service.restart({ QUESTS_CACHE_BYTES: '0' });
  await depth(service, long);
  const depths = await repeat(3, () => depth(service, long));
  return [
    {
      what: 'List of 25 questions, hot, against a bare Express handler that sends the same bytes',
      bound: '≥ 0.5 ×',
      samples: hots.map(({ ratio }) => ratio),
      unit: '×',
      holds: (ratio) => ratio >= 0.5,
      note: `${bytes.length} bytes, ${Math.round(median(hots.map(({ perSecond }) => perSecond)))} a second`,
    },
    {
      what: '10,000 questions, cache off: Skip=9900&Take=100 against Skip=0&Take=100',
      bound: '≤ 1.5 ×',
      samples: depths,
      unit: '×',
      holds: (ratio) => ratio <= 1.5,
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

export const topic: Topic = { title: 'quest-service', measure };
