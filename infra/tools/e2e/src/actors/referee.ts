import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bearer, walletOperator } from '@platform/client';
import { startScript } from '@platform/local/platform';
import type { Actor } from '../actor.ts';
import { callTimeout } from '../wait.ts';
import { createPlayer } from '../load.ts';
import type { StackFile } from '../stack.ts';

/** Runs `wallet-conformance record`, which sends and repeats concurrent callbacks of one player and checks all responses. */
export const referee = (gateway: string, demo: StackFile['demo']): Actor => {
  const wallet = walletOperator(gateway, callTimeout, bearer(demo.adminToken));
  const faults: string[] = [];
  let checked = 0;
  return {
    name: 'referee',
    pace: 2_000,
    step: async () => {
      // A new player each time, because after a call that was never answered the balance is unknown.
      const playerId = await createPlayer(wallet, '100.00');
      await using folder = await mkdtempDisposable(join(tmpdir(), 'history-'));
      await using recording = startScript('packages/wallet-conformance/src/main.ts', [
        'record',
        join(folder.path, 'calls.jsonl'),
        `--url=${gateway}`,
        `--secret=${demo.wallet.hmacSecret}`,
        `--player=${playerId}`,
        '--currency=EUR',
        `--game=${demo.wallet.gameCode}`,
        '--seconds=2',
        '--no-limits',
      ]);
      await recording.ended;
      // A history whose first read was never answered cannot be checked; that is not a fault.
      const [, calls] = /\b(\d+) calls in \d+ histories: 0 violations/.exec(recording.printed()) ?? [];
      if (calls === undefined) faults.push(`referee: ${recording.printed()}`);
      else checked += Number(calls);
    },
    verify: async () => (checked > 0 ? faults : [...faults, 'referee: no call could be checked']),
  };
};
