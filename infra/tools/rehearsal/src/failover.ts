/** `pnpm rehearse:failover`: kills, freezes and cuts off the primary of three PostgreSQL servers while clients use the platform. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { whileClientsRun, type Traffic } from '@platform/e2e/load';
import { startStack, type LocalStack } from '@platform/e2e/stack';
import { waitFor } from '@platform/e2e/wait';
import { citusRoot } from '@platform/local/env';
import { runProgram, UsageError } from '@platform/program';
import postgres from 'postgres';
import { waitForMore, waitUntilStored } from './clients.ts';
import { run } from './command.ts';
import { startPatroni, type Node, type PatroniCluster } from './patroni.ts';
import type { Deployment } from './platform.ts';

const usage = `rehearse:failover [--only WORDS]: all six services on three PostgreSQL servers under Patroni, with synchronous replication, while
clients send requests. CITUS_ROOT is the folder that infra/tools/rehearsal/base-images/citus.sh made. Needs root.`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

type Step = (cluster: PatroniCluster, node: Node) => Promise<void>;

/** What happens to a node, and how it is mended. */
interface Fault {
  of: 'primary' | 'standby';
  /** Whether another node becomes the primary. */
  fails: boolean;
  happen: Step;
  mend: Step;
}

const send =
  (name: 'KILL' | 'STOP' | 'CONT'): Step =>
  ({ signal }, node) =>
    signal(node, name);
const start: Step = (cluster, node) => cluster.start(node);
const cut: Step = ({ cable }, node) => cable(node, 'down');
const join: Step = ({ cable }, node) => cable(node, 'up');
const fill: Step = ({ fillDisk }, node) => fillDisk(node);
const empty: Step = ({ emptyDisk }, node) => emptyDisk(node);
const switchOver: Step = async (cluster, node) => {
  const standby = await cluster.synchronousStandby();
  if (standby) await cluster.switchOver(node, standby);
};
const leave: Step = () => Promise.resolve();

const FAULTS: Record<string, Fault> = {
  'kill -9 of the primary': { of: 'primary', fails: true, happen: send('KILL'), mend: start },
  'primary frozen (SIGSTOP)': { of: 'primary', fails: true, happen: send('STOP'), mend: send('CONT') },
  'primary cut off (network)': { of: 'primary', fails: true, happen: cut, mend: join },
  switchover: { of: 'primary', fails: true, happen: switchOver, mend: leave },
  'loss of the synchronous standby': { of: 'standby', fails: false, happen: send('KILL'), mend: start },
  'disk of the primary full': { of: 'primary', fails: false, happen: fill, mend: empty },
};

/** Answers 503 without Retry-After, of all requests of this process. */
let unadvised = 0;
const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const response = await fetch(...request);
  if (response.status === 503 && !response.headers.has('Retry-After')) unadvised += 1;
  return response;
};

/** Writes to one node itself, as a client that never heard of the failover; resolves with the writes it acknowledged. */
const writeTo = async ({ host }: Node, signal: AbortSignal): Promise<number> => {
  let acknowledged = 0;
  while (!signal.aborted) {
    const sql = postgres(`postgres://postgres@${host}/postgres`, {
      max: 1,
      connect_timeout: 1,
      onnotice: () => {},
    });
    const write = sql`insert into stray values (1)`.then(
      () => (acknowledged += 1),
      () => undefined,
    );
    await Promise.race([write, sleep(1_000)]);
    await sql.end({ timeout: 0 });
    await sleep(50);
  }
  return acknowledged;
};

/** Requests that failed in another way than they may: webhooks not at all, callbacks also with 500 ERROR_UNKNOWN. */
const wrongFailures = (traffic: Traffic): string[] =>
  Object.entries(traffic).flatMap(([service, { failures }]) => {
    const mayBe = service === 'wallet-operator' ? /\b503\b|Error: 500 {2}from/ : /\b503\b/;
    return failures
      .filter((failure) => service === 'store-webhooks' || !mayBe.test(failure))
      .map((failure) => `${service}: ${failure}`);
  });

/** Reads the first column, from the database of a service. */
const queryOf =
  (stack: LocalStack): Deployment['query'] =>
  async (database, statement) => {
    const urls = Object.values((await stack.read()).services).map(({ databaseUrl }) => databaseUrl);
    const url = urls.find((each) => new URL(each).pathname === `/${database}`) ?? '';
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const rows = await sql.unsafe(statement).finally(() => sql.end());
    return rows.map((row) => String(Object.values(row)[0]));
  };

const rehearse = async (
  name: string,
  fault: Fault,
  cluster: PatroniCluster,
  stack: LocalStack,
): Promise<string[]> => {
  await cluster.healthy();
  await stack.ready();
  const primary = await cluster.primary();
  const node = fault.of === 'primary' ? primary : await cluster.synchronousStandby();
  if (node === undefined || primary === undefined) throw new Error('there is no such node');
  let report = '';
  let stray = 0;
  const traffic = await whileClientsRun(await stack.read(), 2, async (sent) => {
    await waitForMore(sent);
    await sleep(3_000);
    const start = Date.now();
    await fault.happen(cluster, node);
    if (fault.fails) {
      await waitFor(
        'another primary',
        async () => ![undefined, node.name].includes((await cluster.primary())?.name),
      );
      const elected = Date.now();
      await waitForMore(sent);
      const back = Date.now();
      report = `new primary after ${seconds(elected - start)}, all services back ${seconds(back - elected)} later`;
      const end = new AbortController();
      const writing = writeTo(node, end.signal);
      await sleep(2_000);
      await fault.mend(cluster, node);
      await cluster.healthy();
      end.abort();
      stray = await writing;
    } else {
      await sleep(15_000);
      await fault.mend(cluster, node);
      await waitForMore(sent);
      const back = Date.now();
      report = `all services acknowledge ${seconds(back - start)} after the fault`;
      await cluster.healthy();
    }
    await waitForMore(sent);
  });
  await waitUntilStored({ query: queryOf(stack) }, traffic);
  const faults = [
    ...wrongFailures(traffic),
    ...(stray > 0 ? [`the old primary acknowledged ${stray} writes`] : []),
  ];
  const counts = Object.entries(traffic).map(
    ([service, { acknowledged, failures, slowestMs }]) =>
      `  ${service.padEnd(16)} ${acknowledged.size} acknowledged, ${failures.length} refused, slowest ${seconds(slowestMs)}`,
  );
  say([`${name}: ${report}`, ...counts, ...faults.slice(0, 10).map((line) => `  FAULT ${line}`)].join('\n'));
  return faults;
};

await runProgram(usage, async (args) => {
  const { only = '' } = parseArgs({ args, options: { only: { type: 'string' } } }).values;
  const root = citusRoot();
  if (root === undefined || process.getuid?.() !== 0)
    throw new UsageError('Set CITUS_ROOT, and run it as root');
  await using cluster = await startPatroni(root);
  const sql = postgres(cluster.url, { max: 1 });
  await sql`create table stray (a int)`.finally(() => sql.end());
  await using stack = await startStack({ env: { DATABASE_URL: cluster.url } });
  say('three servers and six services run');
  let faults = 0;
  for (const [name, fault] of Object.entries(FAULTS).filter(([each]) => each.includes(only)))
    faults += (await rehearse(name, fault, cluster, stack)).length;
  const { services: running } = await stack.read();
  const DATABASE_URL = running['wallet-operator']?.databaseUrl;
  say(await run(process.execPath, ['services/wallet-operator/src/proof.ts'], { DATABASE_URL }));
  if (unadvised > 0) say(`FAULT ${unadvised} answers 503 had no Retry-After`);
  faults += unadvised;
  say(faults === 0 ? 'No fault was found.' : `${faults} faults were found.`);
  process.exitCode = faults === 0 ? 0 : 1;
});
