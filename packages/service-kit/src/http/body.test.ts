import { type IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBodyBudget } from '../overload/body-budget.ts';
import { createPieceCollector, jsonBytes, nestsDeeperThan, readBody } from './body.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const usedBytes = (): number => {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const limit = 1_000_000;

const readJson = jsonBytes(['application/json'], limit, createBodyBudget(2 * limit));
const bodyReaders = {
  readBody: (req: IncomingMessage) => readBody(req, limit),
  jsonBytes: (req: IncomingMessage) => readJson(req, new ServerResponse(req)),
};

test.each(Object.entries(bodyReaders))(
  '%s needs no more memory for a body of single bytes than for one of blocks',
  async (_name, read) => {
    const headers = { 'transfer-encoding': 'chunked', 'content-type': 'application/json' };
    const stream = Object.assign(new Readable({ read: () => undefined }), { headers });
    const whole = read(stream as unknown as IncomingMessage);
    const before = usedBytes();
    stream.push('"');
    for (let count = 0; count < 300_000; count++) {
      stream.push(Buffer.alloc(1, 'x'));
      if (count % 1000 === 0) await turn();
    }
    await turn();
    expect(usedBytes() - before).toBeLessThan(5_000_000);
    stream.push('"');
    stream.push(null);
    expect(String(await whole).replaceAll('"', '')).toBe('x'.repeat(300_000));
  },
);

test('any number of pieces is joined in order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 3 }), { maxLength: 1000, size: 'max' }), (pieces) => {
      const collector = createPieceCollector();
      for (const piece of pieces) collector.add(Buffer.from(piece));
      expect(collector.join()).toEqual(Buffer.concat(pieces));
    }),
  );
});

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('measures the depth of any JSON document', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(6), (value, limit) => {
      expect(nestsDeeperThan(limit, Buffer.from(JSON.stringify(value)))).toBe(depthOf(value) > limit);
    }),
  );
});

test('does not count escaped quotes and brackets in strings', () => {
  expect(nestsDeeperThan(1, Buffer.from(String.raw`["[[\"[[\\"]`))).toBe(false);
});
