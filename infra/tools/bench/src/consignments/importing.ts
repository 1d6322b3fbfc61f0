import { request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { residentMemory } from '../service.ts';
import { idOf } from './fill.ts';

function* bodyOf(rows: number): Generator<string> {
  const together = 100;
  for (let from = 0; from < rows; from += together) {
    const lines = Array.from({ length: together }, (_, place) => {
      const n = from + place;
      return `${JSON.stringify({
        consignmentNumber: `IM-${n}`,
        clientId: idOf('c', n % 200),
        clientName: `Client ${n % 200} Trading`,
        carrierId: idOf('a', n % 20),
        warehouseId: idOf('e', n % 50),
        status: n % 8,
        externalId: `IMP-${n.toString(16)}`,
        reference: `PO ${(n * 7919) % 100_000}`,
      })}\n`;
    });
    yield lines.join('');
  }
}

export interface ImportResult {
  perSecond: number;
  /** What the service's resident memory grew by after the first fifth, in MB. */
  growth: number;
}

/** Imports `rows` consignments over one connection. Throws unless all are stored. */
export const importRows = async (
  { url, pid }: { url: string; pid: number },
  token: string,
  rows: number,
): Promise<ImportResult> => {
  const start = performance.now();
  let stored = 0;
  let [early, latest] = [0, 0];
  const req = request(`${url}/v1/consignments/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' },
  });
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  req.once('response', (res) => {
    res.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf('"id"'); at !== -1; at = chunk.indexOf('"id"', at + 1)) stored++;
      if (stored < rows / 5) early = Math.max(early, residentMemory(pid));
      else latest = Math.max(latest, residentMemory(pid));
    });
    res.once('end', resolve);
    res.once('error', reject);
  });
  await pipeline(Readable.from(bodyOf(rows)), req);
  await done;
  const seconds = (performance.now() - start) / 1000;
  // A mark that was cut in two by the end of a piece is not found.
  if (stored < rows * 0.99) throw new Error(`${stored} of ${rows} were stored`);
  return { perSecond: rows / seconds, growth: Math.max(0, latest - early) };
};
