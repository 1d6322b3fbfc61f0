import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commonEnv } from '@platform/service-kit/env';
import { parse } from 'yaml';
import { hasHelm, renderChart } from '../src/chart.ts';
import { root } from './service.ts';

const folder = join(root, 'infra/deploy');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

/** The Node.js options of the image. */
const options = /NODE_OPTIONS="([^"]+)"/.exec(read('Dockerfile'))?.[1]?.split(' ') ?? [];
const percentage = Number(options.join(' ').match(/--max-old-space-size-percentage=(\d+)/)?.[1]);

const mebibytes = (text: string): number => {
  const [, amount, unit] = /^(\d+)(m|Mi|g|Gi)$/.exec(text) ?? [];
  if (unit === undefined) throw new Error(`${text} is not an amount of memory`);
  return Number(amount) * (unit.startsWith('g') || unit === 'Gi' ? 1024 : 1);
};

interface Container {
  image: string;
  resources: { limits: { memory: string } };
}
interface Workload {
  spec?: { template?: { spec?: { containers?: Container[]; initContainers?: Container[] } } };
}

/** Every container with Node.js: the file that sets its memory limit, and the limit in MiB. */
const limitsOf = async (): Promise<[string, number][]> => {
  const compose = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, { image: string; mem_limit: string }>;
  };
  const isNode = (image: string): boolean => !/postgres:|redis:|gateway:|prom\//.test(image);
  const composeLimits = Object.entries(compose.services)
    .filter(([, { image }]) => isNode(image))
    .map(([name, { mem_limit: limit }]): [string, number] => [`compose.yaml, ${name}`, mebibytes(limit)]);
  const chartLimits = (hasHelm ? await renderChart() : []).flatMap((manifest) => {
    const { containers = [], initContainers = [] } = (manifest as Workload).spec?.template?.spec ?? {};
    return [...containers, ...initContainers]
      .filter(({ image }) => isNode(image))
      .map(({ image, resources }): [string, number] => [
        `the chart, ${image}`,
        mebibytes(resources.limits.memory),
      ]);
  });
  return [...composeLimits, ...chartLimits];
};
const limits = await limitsOf();

test.each([...new Set(limits.map(([, limit]) => limit))])(
  'with a memory limit of %i MiB the heap of Node.js, including the young generation, uses at most three quarters of it',
  (limit) => {
    const places = limits.filter(([, other]) => other === limit);
    const oldSpace = `--max-old-space-size=${Math.ceil((limit * percentage) / 100)}`;
    const otherOptions = options.filter((option) => !option.includes('percentage'));
    const heap = Number(
      execFileSync(process.execPath, [
        ...otherOptions,
        oldSpace,
        '-p',
        'v8.getHeapStatistics().heap_size_limit',
      ]),
    );
    expect({ places, share: heap / 2 ** 20 / limit }).toEqual({
      places,
      share: expect.toSatisfy((share: number) => share <= 0.75),
    });
  },
);

test.each(limits)(
  'request and response bodies in memory use at most a quarter of the memory limit of %s',
  (_place, limit) => {
    const { BODY_MEMORY_BYTES: bodies, ANSWER_MEMORY_BYTES: answers } = commonEnv;
    expect((bodies.parse(undefined) + answers.parse(undefined)) / 2 ** 20 / limit).toBeLessThanOrEqual(0.25);
  },
);

test('every image of a service has a memory limit in compose', () => {
  expect(limits.filter(([place]) => place.startsWith('compose')).length).toBeGreaterThanOrEqual(13);
});

test.runIf(hasHelm)('every image of a service has a memory limit in the chart', () => {
  expect(limits.filter(([place]) => place.startsWith('the chart')).length).toBeGreaterThanOrEqual(14);
});

test('unfinished heads and unread responses on all connections fit into the memory of the gateway', () => {
  const nginx = ['nginx.conf', 'limits.conf']
    .map((file) => readFileSync(join(root, 'infra/gateway/nginx', file), 'utf8'))
    .join('');
  const numbers = (directive: string): number[] =>
    (new RegExp(`^\\s*${directive} (.*);`, 'm').exec(nginx)?.[1] ?? '')
      .split(' ')
      .map((text) => Number.parseInt(text, 10) * (text.endsWith('k') ? 1024 : 1));
  const [connections = NaN] = numbers('worker_connections');
  const [first = NaN] = numbers('client_header_buffer_size');
  const [lines = NaN, line = NaN] = numbers('large_client_header_buffers');
  const [responseHead = NaN] = numbers('proxy_buffer_size');
  const [buffers = NaN, buffer = NaN] = numbers('proxy_buffers');
  // Measured with 7,427 unfinished heads: 45 kB each, for the buffers and the pools of connection and request.
  const head = first + lines * line + 10 * 1024;
  const response = responseHead + buffers * buffer;
  // A request also uses a connection to its service.
  const worstCase = Math.max(connections * head, (connections / 2) * (head + response));

  const compose = parse(read('compose.yaml'), { merge: true }) as {
    services: { gateway: { mem_limit: string } };
  };
  const values = parse(read('chart/values.yaml')) as { gateway: { resources: { memoryLimit: string } } };
  const memoryLimits = [compose.services.gateway.mem_limit, values.gateway.resources.memoryLimit];
  expect(memoryLimits.map((limit) => worstCase / 2 ** 20 / mebibytes(limit) <= 0.75)).toEqual([true, true]);
});
