import { expect, inject, test } from 'vitest';
import type {} from '@platform/local/provided';
import { restartUnderLoad } from './restarts.ts';

test.runIf(inject('nginxPath') && inject('redisUrl'))(
  'no request fails while both instances of every service restart, one directly after the other, under load',
  async () => {
    const { sent, errors } = await restartUnderLoad();
    expect(errors).toEqual([]);
    expect(Object.values(sent).flatMap(({ failures }) => failures)).toEqual([]);
    expect(Object.values(sent).filter(({ requests }) => requests === 0)).toEqual([]);
    expect(Object.keys(sent)).toHaveLength(6);
  },
  // Only what hangs takes longer.
  1_200_000,
);
