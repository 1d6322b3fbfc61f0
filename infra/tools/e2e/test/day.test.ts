import { expect, inject, test } from 'vitest';
import type {} from '@platform/local/provided';
import { runDayLocally } from './local-day.ts';

test.runIf(inject('nginxPath') && inject('redisUrl'))(
  'nothing acknowledged is lost while every program is killed in turn, the ledger stays consistent, and no log contains a secret',
  async () => {
    const { crashes, results, logs, faults } = await runDayLocally();
    expect(faults).toEqual([]);
    expect(Object.keys(crashes)).toHaveLength(9);
    expect(Object.values(results).filter(({ steps }) => steps === 0)).toEqual([]);
    expect(logs).toEqual(expect.arrayContaining(['logs/task-manager.log', 'logs/gateway/access.log']));
  },
  // Only what hangs takes longer.
  1_200_000,
);
