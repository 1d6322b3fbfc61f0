/**
 * Sends realistic webhooks to a running service and checks the records they lead to:
 *
 *   pnpm --filter store-webhooks simulate --events 1000 --chaos
 *
 * Takes address, store and credentials from the running stack (.local/stack.json), or from --url,
 * --store, --token and --admin-token. With --stand-in it only starts the stand-in of the providers.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { hooksPath } from '../../src/webhooks.ts';
import { differencesWhenDone } from './compare.ts';
import { deliver } from './deliver.ts';
import { createRandom } from './random.ts';
import { startStandIn } from './stand-in.ts';
import { makeTraffic } from './traffic.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '200' },
    chaos: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    connections: { type: 'string', default: '16' },
    url: { type: 'string' },
    store: { type: 'string' },
    token: { type: 'string' },
    'admin-token': { type: 'string' },
    stack: { type: 'string', default: new URL('../../../../.local/stack.json', import.meta.url).pathname },
    'stand-in': { type: 'boolean', default: false },
  },
});

interface Stack {
  gateway: string;
  demo: { adminToken: string; store: { id: string; webhookToken: string } };
}

const target = async () => {
  const { url, store, token, 'admin-token': adminToken } = values;
  if (url && store && token && adminToken) return { url, storeId: store, token, adminToken };
  const text = await readFile(values.stack, 'utf8').catch(() => {
    throw new Error('No stack runs here: start one, or give --url, --store, --token and --admin-token.');
  });
  const { gateway, demo } = JSON.parse(text) as Stack;
  return {
    url: gateway,
    storeId: demo.store.id,
    token: demo.store.webhookToken,
    adminToken: demo.adminToken,
  };
};

const simulate = async (): Promise<void> => {
  const { token, ...where } = await target();
  const run = `s${values.seed}-${Date.now().toString(36)}`;
  const random = createRandom(Number(values.seed));
  const { sendings, expected, broken } = makeTraffic(run, Number(values.events), values.chaos, random);
  say(`sending ${sendings.length} webhooks (seed ${values.seed}) to ${where.url}`);
  const { acknowledged, resent } = await deliver(
    `${where.url}${hooksPath}`,
    token,
    sendings,
    Number(values.connections),
  );
  say(`${acknowledged} acknowledged, ${resent} sent again; waiting until all are processed`);
  const differences = await differencesWhenDone(where, run, expected, broken);
  for (const difference of differences.slice(0, 20)) say(`  ${difference}`);
  say(differences.length === 0 ? 'every event is accounted for' : `differences: ${differences.length}`);
  process.exitCode = differences.length === 0 ? 0 : 1;
};

if (values['stand-in']) {
  const standIn = await startStandIn();
  say(`POS, identity and 3DS providers answer at ${standIn.url} until you stop this program (Ctrl-C)`);
} else await simulate();
