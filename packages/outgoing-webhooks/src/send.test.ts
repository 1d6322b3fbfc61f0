import type { Worker } from 'node:worker_threads';
import { captureLog } from '@platform/service-kit/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createFairPlaces, createSend } from './send.ts';
import { startReceiver } from './testing/receiver.ts';

test('slow groups leave room for another group, and all work is run in the end', async () => {
  const groups = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 });
  const order = fc.array(fc.nat(), { minLength: 64, maxLength: 64 });
  await fc.assert(
    fc.asyncProperty(groups, order, async (groupsOfWork, order) => {
      const withPlace = createFairPlaces(16);
      const running: { group: string; end(): void }[] = [];
      const start = (group: string) =>
        withPlace(group, () => new Promise<void>((end) => void running.push({ group, end })));
      const started = groupsOfWork.map(start);
      await Promise.resolve();
      expect(running.length).toBeLessThanOrEqual(16);
      const before = running.length;
      const late = start('late');
      await Promise.resolve();
      expect(running.slice(before)).toMatchObject([{ group: 'late' }]);
      for (const at of order) {
        const [ended] = running.splice(at % Math.max(running.length, 1), 1);
        ended?.end();
        // Lets the work end and the next one start.
        for (let n = 0; n < 5; n++) await Promise.resolve();
        expect(running.length).toBeLessThanOrEqual(16);
      }
      await Promise.all([...started, late]);
    }),
  );
});

test('a subject whose answer was costly to parse is served by another thread than other subjects', async () => {
  await using resources = new AsyncDisposableStack();
  const send = createSend({ addresses: 'any', timeoutMs: 20_000 }, { log: captureLog().log, resources });
  const { url } = await startReceiver(({ body }, res) => {
    res.writeHead(200);
    if (body.includes('ann')) for (let n = 0; n < 1500; n++) res.write('x');
    res.end();
  });
  const threads: Worker[] = [];
  const count = (worker: Worker) => threads.push(worker);
  process.on('worker', count);
  onTestFinished(() => void process.off('worker', count));
  const sendFor = (subject: string) =>
    send(
      {
        subject,
        url,
        event: 'evt_1',
        body: JSON.stringify({ subject }),
        secrets: ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
      },
      { isOver: () => false, aborted: new AbortController().signal },
    );
  for (const subject of ['ben', 'ann', 'ben']) {
    expect(await sendFor(subject)).toMatchObject({ status: 200, error: null });
    expect(threads).toHaveLength(1);
  }
  await sendFor('ann');
  expect(threads).toHaveLength(2);
  await sendFor('ben');
  expect(threads).toHaveLength(2);
});
