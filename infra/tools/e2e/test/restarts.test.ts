import { expect, inject, test } from 'vitest';
import type {} from '@platform/local/provided';
import { restartUnderLoad } from '../src/restarts.ts';

test.runIf(inject('nginxPath') && inject('redisUrl'))(
  'no request fails while both instances of every service restart, one directly after the other, under load',
  async () => {
    const { sent, restarts, errors } = await restartUnderLoad(2, 1);
    expect(errors).toEqual([]);
    expect(Object.values(sent).flatMap(({ failures }) => failures)).toEqual([]);
    expect(Object.values(sent).filter(({ requests }) => requests === 0)).toEqual([]);
    expect(Object.values(restarts)).toEqual([2, 2, 2, 2, 2, 2]);
  },
  // Only what hangs takes longer.
  1_200_000,
);
