import { startScript } from '@platform/local/platform';
import type { Actor } from '../actor.ts';
import type { Access } from '../stack.ts';
import { LIMIT_MS } from '../wait.ts';

/** Runs `simulate`, which sends a store's webhooks, some repeated or out of order, and checks that each is processed. */
export const shop = ({ gateway, demo }: Access): Actor => {
  const faults: string[] = [];
  let seed = 1;
  return {
    name: 'shop',
    pace: 500,
    step: async () => {
      const args = [
        `--url=${gateway}`,
        `--admin-token=${demo.adminToken}`,
        `--store=${demo.store.id}`,
        `--token=${demo.store.webhookToken}`,
        '--events=60',
        '--connections=4',
        `--patience=${LIMIT_MS / 1000}`,
        '--chaos',
        `--seed=${seed++}`,
      ];
      await using simulate = startScript('services/store-webhooks/test/simulate/main.ts', args);
      const { code } = await simulate.ended;
      if (code !== 0) faults.push(`shop: ${simulate.printed()}`);
    },
    verify: async () => faults,
  };
};
