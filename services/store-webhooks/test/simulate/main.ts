import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { localStack } from '@platform/program/local-stack';
import { hooksPath } from '../../src/webhooks.ts';
import { differencesWhenDone } from './compare.ts';
import { deliver } from './deliver.ts';
import { createRandom } from './random.ts';
import { startStandIn } from './stand-in.ts';
import { makeTraffic } from './traffic.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const usage = `simulate [--events 200] [--chaos] [--seed N] [--connections 16]: sends realistic webhooks to a running service and checks
the resulting records
  --url, --store, --token, --admin-token  default: those of the local platform
  --patience SECONDS                      (120) time limit of the retries until all are acknowledged
  --stand-in                              only starts the stand-in of the providers`;

const options = {
  events: { type: 'string', default: '200' },
  chaos: { type: 'boolean', default: false },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  connections: { type: 'string', default: '16' },
  patience: { type: 'string', default: '120' },
  url: { type: 'string' },
  store: { type: 'string' },
  token: { type: 'string' },
  'admin-token': { type: 'string' },
  'stand-in': { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

const targetOf = ({ url, store, token, 'admin-token': adminToken }: Values) => {
  if (url && store && token && adminToken) return { url, storeId: store, token, adminToken };
  const { gateway, demo } = localStack() ?? {};
  if (!gateway || !demo)
    throw new UsageError(
      'No local platform is running: start it, or pass --url, --store, --token and --admin-token',
    );
  return {
    url: gateway,
    storeId: demo.store.id,
    token: demo.store.webhookToken,
    adminToken: demo.adminToken,
  };
};

const simulate = async (values: Values): Promise<number> => {
  const { token, ...target } = targetOf(values);
  const run = `s${values.seed}-${Date.now().toString(36)}`;
  const random = createRandom(Number(values.seed));
  const { sendings, expected, broken } = makeTraffic(run, Number(values.events), values.chaos, random);
  say(`sending ${sendings.length} webhooks (seed ${values.seed}) to ${target.url}`);
  const { acknowledged, resent } = await deliver(`${target.url}${hooksPath}`, token, sendings, {
    connections: Number(values.connections),
    patienceSeconds: Number(values.patience),
  });
  say(`${acknowledged} acknowledged, ${resent} sent again; waiting until all are processed`);
  const differences = await differencesWhenDone(target, run, expected, broken);
  for (const difference of differences.slice(0, 20)) say(`  ${difference}`);
  say(differences.length === 0 ? 'every event is accounted for' : `differences: ${differences.length}`);
  return differences.length === 0 ? 0 : 1;
};

await runProgram(usage, async (args) => {
  const { values } = parseArgs({ args, options });
  if (!values['stand-in']) return simulate(values);
  const standIn = await startStandIn();
  say(`POS, identity and 3DS providers answer at ${standIn.url} until you stop this program (Ctrl-C)`);
  return undefined;
});
