/** `pnpm rehearse:failover`: kills, freezes and disconnects one of three PostgreSQL servers while clients use the platform. */
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

const usage = `rehearse:failover [--only WORDS]: injects faults into three PostgreSQL servers under Patroni, with synchronous replication,
while clients send requests to all six services. CITUS_ROOT is the folder that base-images/citus.sh created. Needs root.`;

const print = (...lines: string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

type Step = (cluster: PatroniCluster, node: Node) => Promise<void>;

/** A fault of a node, and its repair. */
interface Fault {
  node: 'primary' | 'standby';
  /** Whether another node becomes the primary. */
  failover: boolean;
  inject: Step;
  repair: Step;
}

/** All processes of a node are killed and started again. */
const kill: Pick<Fault, 'inject' | 'repair'> = {
  inject: ({ signal }, node) => signal(node, 'KILL'),
  repair: ({ start }, node) => start(node),
};

const FAULTS: Record<string, Fault> = {
  'kill -9 of the primary': { node: 'primary', failover: true, ...kill },
  'primary frozen (SIGSTOP)': {
    node: 'primary',
    failover: true,
    inject: ({ signal }, node) => signal(node, 'STOP'),
    repair: ({ signal }, node) => signal(node, 'CONT'),
  },
  'primary cut off (network)': {
    node: 'primary',
    failover: true,
    inject: ({ setLink }, node) => setLink(node, 'down'),
    repair: ({ setLink }, node) => setLink(node, 'up'),
  },
  switchover: {
    node: 'primary',
    failover: true,
    inject: async ({ switchOver, synchronousStandby }, node) => {
      const standby = await synchronousStandby();
      if (standby) await switchOver(node, standby);
    },
    repair: () => Promise.resolve(),
  },
  'loss of the synchronous standby': { node: 'standby', failover: false, ...kill },
  'disk of the primary full': {
    node: 'primary',
    failover: false,
    inject: ({ fillDisk }, node) => fillDisk(node),
    repair: ({ emptyDisk }, node) => emptyDisk(node),
  },
};

/** Number of 503 responses to this process without Retry-After. */
let withoutRetryAfter = 0;
const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const response = await fetch(...request);
  if (response.status === 503 && !response.headers.has('Retry-After')) withoutRetryAfter += 1;
  return response;
};

/** Writes to one node directly, like a client that ignores the failover; returns the number of acknowledged writes. */
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

/** Returns the failures that are not 503; webhooks may not fail at all, callbacks also with 500 ERROR_UNKNOWN. */
const unexpectedFailures = (traffic: Traffic): string[] =>
  Object.entries(traffic).flatMap(([service, { failures }]) => {
    // Responses to callbacks have no `code`, so the message of their ApiError has two spaces there.
    const expected = service === 'wallet-operator' ? /\b503\b|Error: 500 {2}from/ : /\b503\b/;
    return failures
      .filter((failure) => service === 'store-webhooks' || !expected.test(failure))
      .map((failure) => `${service}: ${failure}`);
  });

/** Returns a function that returns the first column of a query in a service's database. */
const queryOf =
  (stack: LocalStack): Deployment['query'] =>
  async (database, statement) => {
    const urls = Object.values((await stack.read()).services).map(({ databaseUrl }) => databaseUrl);
    const url = urls.find((databaseUrl) => new URL(databaseUrl).pathname === `/${database}`) ?? '';
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
  await cluster.waitUntilHealthy();
  await stack.ready();
  const primary = await cluster.primary();
  const node = fault.node === 'primary' ? primary : await cluster.synchronousStandby();
  if (node === undefined || primary === undefined) throw new Error('no primary or no standby');
  let report = '';
  let lateWrites = 0;
  const traffic = await whileClientsRun(await stack.read(), async (running) => {
    await waitForMore(running);
    await sleep(3_000);
    const start = Date.now();
    await fault.inject(cluster, node);
    if (fault.failover) {
      await waitFor('another node is the primary', async () => {
        const newPrimary = await cluster.primary();
        return newPrimary !== undefined && newPrimary.name !== node.name;
      });
      const elected = Date.now();
      await waitForMore(running);
      const recovered = Date.now();
      report = `new primary after ${seconds(elected - start)}, all services back ${seconds(recovered - elected)} later`;
      const end = new AbortController();
      const acknowledgedWrites = writeTo(node, end.signal);
      await sleep(2_000);
      await fault.repair(cluster, node);
      await cluster.waitUntilHealthy();
      end.abort();
      lateWrites = await acknowledgedWrites;
    } else {
      await sleep(15_000);
      await fault.repair(cluster, node);
      await waitForMore(running);
      const recovered = Date.now();
      report = `all services acknowledge ${seconds(recovered - start)} after the fault`;
      await cluster.waitUntilHealthy();
    }
    await waitForMore(running);
  });
  await waitUntilStored({ query: queryOf(stack) }, traffic);
  const faults = [
    ...unexpectedFailures(traffic),
    ...(lateWrites > 0 ? [`the old primary acknowledged ${lateWrites} writes`] : []),
  ];
  const counts = Object.entries(traffic).map(
    ([service, { acknowledged, failures, slowestMs }]) =>
      `  ${service.padEnd(16)} ${acknowledged.size} acknowledged, ${failures.length} refused, slowest ${seconds(slowestMs)}`,
  );
  print(`${name}: ${report}`, ...counts, ...faults.slice(0, 10).map((line) => `  FAULT ${line}`));
  return faults;
};

await runProgram(usage, async (args) => {
  const { only = '' } = parseArgs({ args, options: { only: { type: 'string' } } }).values;
  const root = citusRoot();
  if (root === undefined || process.getuid?.() !== 0) throw new UsageError('Set CITUS_ROOT, and run as root');
  await using cluster = await startPatroni(root);
  const sql = postgres(cluster.url, { max: 1 });
  await sql`create table stray (a int)`.finally(() => sql.end());
  await using stack = await startStack({ env: { DATABASE_URL: cluster.url } });
  print('three servers and six services run');
  let faults = 0;
  for (const [name, fault] of Object.entries(FAULTS).filter(([title]) => title.includes(only)))
    faults += (await rehearse(name, fault, cluster, stack)).length;
  const { services: running } = await stack.read();
  const DATABASE_URL = running['wallet-operator']?.databaseUrl;
  print(await run(process.execPath, ['services/wallet-operator/src/proof.ts'], { DATABASE_URL }));
  if (withoutRetryAfter > 0) print(`FAULT ${withoutRetryAfter} responses 503 had no Retry-After`);
  faults += withoutRetryAfter;
  print(faults === 0 ? 'No fault was found.' : `${faults} faults were found.`);
  process.exitCode = faults === 0 ? 0 : 1;
});
