import { expect, onTestFinished, test, vi } from 'vitest';
import { captureLog } from '../testing/index.ts';
import { createRefusalSampler } from './refusal-sampler.ts';

const reports = (lines: string[]) => lines.map((line) => JSON.parse(line));

test('ten refusals per minute with one reason and network are logged, and one line counts the others', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { log, lines } = captureLog();
  using sampler = createRefusalSampler(log);
  const logged = () => Array.from({ length: 100 }, () => sampler.sample('401', '192.0.2.1')).filter(Boolean);
  expect(logged()).toHaveLength(10);
  expect(sampler.sample('404', '192.0.2.1')).toBe(true);
  expect(sampler.sample('401', '192.0.2.2')).toBe(true);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(reports(lines)).toMatchObject([
    { level: 'warn', msg: 'repeated refusals', reason: '401', network: '192.0.2.1', count: 90 },
  ]);
  expect(logged()).toHaveLength(10);
});

test('lines stay bounded when every refusal comes from another network, and all refusals are counted', () => {
  const { log, lines } = captureLog();
  const sampler = createRefusalSampler(log);
  const logged = Array.from({ length: 10_000 }, (_, index) =>
    sampler.sample('401', `2001:db8:${index}::/64`),
  );
  expect(logged.filter(Boolean)).toHaveLength(110);
  sampler[Symbol.dispose]();
  expect(reports(lines)).toMatchObject([{ network: 'others', count: 10_000 - 110 }]);
});

test('the summary line may have another message, and another field for the source', () => {
  const { log, lines } = captureLog();
  const sampler = createRefusalSampler(log, { sourceField: 'storeId', message: 'repeated failures' });
  for (let at = 0; at < 12; at++) sampler.sample('order: TypeError', 'store-1');
  sampler[Symbol.dispose]();
  expect(reports(lines)).toMatchObject([{ msg: 'repeated failures', storeId: 'store-1', count: 2 }]);
});
