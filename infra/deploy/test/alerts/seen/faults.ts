import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { waitFor } from '@platform/e2e/wait';
import { runningIn, signal } from '@platform/local/process';
import {
  allOf,
  freeze,
  getAsOther,
  hold,
  keepKilling,
  lockOut,
  repeat,
  send,
  type Mend,
  type Target,
} from './platform.ts';

/** Something that goes wrong, and the alerts that must say so. */
export interface Fault {
  /** What is done, for the table. */
  fault: string;
  /** What ends it, for the table. */
  clears: string;
  /** Each the name of an alert, a space, and the value that one of its labels must have, such as the service. */
  alerts: readonly string[];
  provoke: (target: Target) => Promise<Mend>;
}

/** The processes that a process has started, such as the workers of nginx. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const processOf = async ({ stack }: Target, name: string): Promise<number> => {
  const pid = (await stack.pids())[name];
  if (!pid) throw new Error(`${name} does not run`);
  return pid;
};

/** Of services, gateway and page directories. */
export const serviceFaults: readonly Fault[] = [
  {
    fault: 'the only process of consignments frozen (SIGSTOP), while a client sends 300 requests at a time',
    clears: 'the process goes on',
    alerts: [
      'ServiceDown consignments',
      'ProbeFails consignments',
      'GatewayErrors consignments',
      'ObjectiveMissed lists served',
      'ClientsRefused /v1/consignments',
    ],
    provoke: async (target) => {
      const mend = freeze([await processOf(target, 'consignments')]);
      const headers = { Authorization: `Bearer ${target.file.demo.adminToken}` };
      const list = () => getAsOther(`${target.file.gateway}/v1/consignments`, headers);
      return allOf(repeat(list, { count: 300, pauseMs: 1000 }), mend);
    },
  },
  {
    fault: 'no container of consignments left: its name has no address any more',
    clears: 'it has one again',
    alerts: ['ServiceGone consignments'],
    provoke: async ({ monitoring }) => {
      await monitoring.discover('consignments', false);
      return () => monitoring.discover('consignments', true);
    },
  },
  {
    fault: 'quest-service killed (SIGKILL) whenever it was started again',
    clears: 'it stays',
    alerts: ['ServiceDown quest-service', 'GatewayErrors quest-service', 'GatewayRetries quest-service'],
    provoke: (target) =>
      Promise.resolve(
        allOf(
          keepKilling(target, 'quest-service'),
          repeat(() => send(`${target.file.gateway}/v1/quests`)),
        ),
      ),
  },
  {
    fault: 'the table of quests locked for 1.6 s of every 2 s, as by a statement of somebody else',
    clears: 'the statement is ended',
    alerts: ['ResponsesSlow quest-service'],
    provoke: ({ ownerOf, file }) =>
      Promise.resolve(
        allOf(
          repeat(
            async () =>
              ownerOf('quest-service').begin(async (sql) => {
                await sql`lock table quests in access exclusive mode`;
                await sql`select pg_sleep(1.6)`;
              }),
            { pauseMs: 400 },
          ),
          repeat(() => send(`${file.gateway}/v1/quests`), { count: 4 }),
        ),
      ),
  },
  {
    fault: 'the table of quests locked, while clients ask for more than 200 lists at a time',
    clears: 'the lock is released',
    alerts: ['PoolFull quest-service', 'RequestsRefused quest-service'],
    provoke: async ({ ownerOf, file }) =>
      allOf(
        await hold(ownerOf('quest-service'), 'lock table quests in access exclusive mode'),
        repeat(() => send(`${file.services['quest-service']?.url}/v1/quests`), { count: 250 }),
      ),
  },
  {
    fault: 'the role of task-manager may not log in any more, and its connections were ended',
    clears: 'the role may log in',
    alerts: ['DatabaseUnavailable task-manager', 'ErrorRateHigh task-manager'],
    provoke: (target) => lockOut(target, 'task-manager'),
  },
  {
    fault: 'the state of the page directory locked, and 25,000 consignments inserted',
    clears: 'the lock is released',
    alerts: ['DirectoryLags consignments'],
    provoke: async ({ ownerOf }) => {
      const sql = ownerOf('consignments');
      const mend = await hold(sql, 'select from consignments_directory_state for update');
      await sql`insert into consignments (id, consignment_number, client_id, client_name, status, edi_status)
        select gen_random_uuid(), 'alert-' || n, gen_random_uuid(), 'Alerts', 0, 0 from generate_series(1, 25000) n`;
      return mend;
    },
  },
];

/** The page directory is compared with its list an hour after the start, and then every hour. */
export const hourFault: Fault = {
  fault:
    'three consignments inserted without the triggers of the page directory (`session_replication_role`)',
  clears: 'the process was started again; else the next check, an hour later',
  alerts: ['DirectoryDrifts consignments'],
  provoke: async (target) => {
    await target.ownerOf('consignments').begin(async (sql) => {
      await sql`set local session_replication_role = replica`;
      await sql`insert into consignments (id, consignment_number, client_id, client_name, status, edi_status)
        select gen_random_uuid(), 'drift-' || n, gen_random_uuid(), 'Alerts', 0, 0 from generate_series(1, 3) n`;
    });
    return async () => signal(await processOf(target, 'consignments'), 'SIGKILL');
  },
};

const busy = 'verify-projects';

/** Runs code in a process of verify-projects by its debugger, whose port is that of the service plus 1000. */
const inProcess = async (target: Target, expression: string): Promise<void> => {
  signal(await processOf(target, busy), 'SIGUSR1');
  const { hostname, port } = new URL(target.file.services[busy]?.url ?? '');
  const list = `http://${hostname}:${Number(port) + 1000}/json/list`;
  const find = async (): Promise<string | undefined> => {
    const response = await fetch(list).catch(() => undefined);
    return ((await response?.json()) as { webSocketDebuggerUrl: string }[] | undefined)?.[0]
      ?.webSocketDebuggerUrl;
  };
  await waitFor('the debugger listens', async () => (await find()) !== undefined);
  const socket = new WebSocket((await find()) ?? '');
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
  await once(socket, 'message');
  socket.close();
};

/** In a process of verify-projects, one after the other: they use the debugger. */
export const processFaults: readonly Fault[] = [
  {
    fault: 'code in a process of verify-projects that computes for 400 ms of every 500 ms',
    clears: 'the code has ended',
    alerts: ['EventLoopLags verify-projects'],
    provoke: async (target) => {
      await inProcess(
        target,
        'globalThis.busy = setInterval(() => { const end = Date.now() + 400; while (Date.now() < end); }, 500)',
      );
      return () => inProcess(target, 'clearInterval(globalThis.busy)');
    },
  },
  {
    fault: 'a process of verify-projects keeps 400 MB',
    clears: 'the process was killed and started again',
    alerts: ['MemoryHigh verify-projects'],
    provoke: async (target) => {
      await inProcess(target, 'globalThis.kept = Buffer.alloc(400e6, 1)');
      return async () => signal(await processOf(target, busy), 'SIGKILL');
    },
  },
];

/** Of what all services share, so one after the other and apart from all others. */
export const sharedFaults: readonly Fault[] = [
  {
    fault: 'Redis frozen',
    clears: 'Redis goes on',
    alerts: ['RedisUnavailable quest-service'],
    provoke: async (target) => freeze([await processOf(target, 'redis')]),
  },
  {
    fault: 'PostgreSQL (every process of it) and Redis frozen',
    clears: 'both go on',
    alerts: ['DatabaseUnavailable store-webhooks', 'ReplacedTokensAccepted store-webhooks'],
    provoke: async (target) => {
      const { dataDir } = target.file.postgres;
      return freeze([...runningIn(dataDir ?? ''), await processOf(target, 'redis')]);
    },
  },
  {
    fault: 'nginx frozen: master and worker',
    clears: 'they go on',
    alerts: ['ServiceDown gateway', 'ProbeFails gateway'],
    provoke: async (target) => {
      const master = await processOf(target, 'nginx');
      return freeze([master, ...childrenOf(master)]);
    },
  },
];
