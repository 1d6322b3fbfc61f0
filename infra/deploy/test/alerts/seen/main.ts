import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { whileClientsRun } from '@platform/e2e/load';
import { startStack } from '@platform/e2e/stack';
import { platformPorts } from '@platform/local/platform';
import { runProgram } from '@platform/program';
import { hourFault, processFaults, serviceFaults, sharedFaults, type Fault } from './faults.ts';
import { machineFaults, writeCertificate } from './machine-faults.ts';
import { startMonitoring } from './monitoring.ts';
import { openOwners, type Target } from './platform.ts';
import { standbyFault } from './standby-fault.ts';
import { longFaults, walletFaults } from './wallet-faults.ts';
import { webhookFaults } from './webhook-faults.ts';

const usage = `alerts: provokes faults in a platform of its own, and says which alert of a real Prometheus fired, and when
  --factor 20     times in the rules are divided by it; thresholds are not
  --only REGEXP   only the faults of which the name of an alert matches this
  --hour          only what a check finds that runs every hour
It needs root, openssl, and prometheus and its exporters blackbox, node and postgres of Debian in the PATH, and takes a quarter of an hour.`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (since: number): number => Math.round((performance.now() - since) / 1000);

/** Alerts that did not fire, or did not end. */
const problems: string[] = [];
const report = (problem: string): void => {
  problems.push(problem);
  say(`        ${problem}`);
};
/** Rows of the table. */
const rows: string[] = [];

/** Provokes a fault, waits until all of its alerts have fired, mends it, and waits until they have ended. */
const observe = async (
  target: Target,
  { fault, clears, alerts, provoke }: Fault,
  limitMs: number,
): Promise<void> => {
  /** Those of the fault that fire now, with their texts. */
  const firing = async (): Promise<Map<string, string>> => {
    const named = (await target.monitoring.firing()).flatMap(({ labels, annotations }) =>
      Object.values(labels).map(
        (value) => [`${labels['alertname']} ${value}`, annotations['summary'] ?? ''] as const,
      ),
    );
    return new Map(named.filter(([name]) => alerts.includes(name)));
  };
  for (const name of (await firing()).keys()) report(`${name} fired before: ${fault}`);
  const since = performance.now();
  say(`        ${fault}`);
  const mend = await provoke(target);
  const seen = new Map<string, { after: number; summary: string }>();
  try {
    while (seen.size < alerts.length && performance.now() < since + limitMs) {
      for (const [name, summary] of await firing()) {
        if (seen.has(name)) continue;
        seen.set(name, { after: seconds(since), summary });
        say(`${String(seconds(since)).padStart(5)} s ${name}: ${summary}`);
      }
      await sleep(200);
    }
  } finally {
    await mend();
  }
  const mendedAt = performance.now();
  while ((await firing()).size > 0 && performance.now() < mendedAt + limitMs) await sleep(200);
  const cleared = seconds(mendedAt);
  const left = await firing();
  for (const name of alerts) {
    const { after, summary } = seen.get(name) ?? {};
    if (after === undefined) report(`${name} did not fire: ${fault}`);
    else if (left.has(name)) report(`${name} did not end: ${clears}`);
    rows.push(
      `| \`${name.split(' ')[0]}\` | ${fault} | ${after === undefined ? 'no' : `after ${after} s: ${summary}`} | ${clears} (${cleared} s) |`,
    );
  }
};

await runProgram(usage, async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      factor: { type: 'string', default: '20' },
      only: { type: 'string', default: '' },
      hour: { type: 'boolean' },
    },
  });
  const isWanted = ({ alerts }: Fault) => alerts.some((name) => new RegExp(values.only).test(name));
  const base = Number((await platformPorts()).PORT_BASE);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'alerts-'));
  const { certificate, key } = writeCertificate(folder.path, 60);
  await using stack = await startStack({
    env: {
      GATEWAY_TLS_CERTIFICATE: certificate,
      GATEWAY_TLS_KEY: key,
      GATEWAY_TLS_PORT: String(base + 80),
      GATEWAY_METRICS_PORT: String(base + 91),
      RATE_LIMIT: 'off',
      // Small, so that it is soon full.
      STORE_WEBHOOKS_SPOOL_MAX_BYTES: '400000',
      // Nobody listens there.
      STORE_WEBHOOKS_SMTP_URL: 'smtp://127.0.0.1:1',
      WALLET_OPERATOR_PROVE_EVERY_S: '5',
    },
  });
  const file = await stack.read();
  const { ownerOf, close } = openOwners(file);
  const standby = `127.0.0.1:${base + 96}`;
  await using monitoring = await startMonitoring({
    folder: folder.path,
    factor: Number(values.factor),
    gateway: file.gateway,
    tls: `127.0.0.1:${base + 80}`,
    ports: [base + 93, base + 94, base + 95],
    targets: {
      ...Object.fromEntries(
        Object.entries(file.services).map(([name, { url }]) => [name, new URL(url).host]),
      ),
      'gateway-telemetry': `127.0.0.1:${base + 91}`,
      gateway: `127.0.0.1:${base + 92}`,
      standby,
    },
  });
  await using resources = new AsyncDisposableStack();
  const target: Target = { stack, file, monitoring, folder: folder.path, standby, resources, ownerOf };
  const inTurn = async (faults: readonly Fault[]): Promise<void> => {
    for (const fault of faults.filter(isWanted))
      await observe(target, fault, values.hour ? 4_000_000 : 900_000).catch((error: unknown) =>
        report(`${String(error)}: ${fault.fault}`),
      );
  };
  await whileClientsRun(file, 1, async () => {
    // Longer than the ranges of the rules.
    await sleep(20_000);
    for (const { labels } of await monitoring.firing())
      report(`${labels['alertname']} fires without a fault`);
    if (values.hour) return inTurn([hourFault]);
    const long = Promise.all([...longFaults, ...machineFaults, standbyFault].map((fault) => inTurn([fault])));
    const apart = Promise.all([serviceFaults, processFaults, webhookFaults].map(inTurn));
    await Promise.all([long, apart.then(() => inTurn(sharedFaults))]);
    return inTurn(walletFaults);
  });
  await close();
  say(rows.toSorted().join('\n'));
  for (const problem of problems) say(problem);
  return problems.length === 0 ? 0 : 1;
});
