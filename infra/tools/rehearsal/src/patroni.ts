import { waitFor } from '@platform/e2e/wait';
import { run } from './command.ts';

/** First three numbers of the addresses: this machine is .1, the nodes are .11 to .13. */
const NETWORK = '10.77.0';
/** Network namespace of the bridge between the nodes and this machine; there no firewall rule of Docker applies. */
const SWITCH = 'failover';
/** The user `nobody` and its group: PostgreSQL refuses to run as root. */
const USER = '65534:65534';
/** Mount point of a node's disk (tmpfs) inside the root folder of the programs. */
const DISK = '/data';

/** A node with its own network namespace, etcd, Patroni and PostgreSQL. */
export interface Node {
  name: string;
  host: string;
}

interface Member {
  name: string;
  role: 'leader' | 'sync_standby' | 'replica';
  state: string;
}

const NODES: readonly Node[] = [1, 2, 3].map((n) => ({ name: `failover${n}`, host: `${NETWORK}.${10 + n}` }));

const patroniSettings = ({ name, host }: Node): object => ({
  scope: 'platform',
  name,
  restapi: { listen: `${host}:8008`, connect_address: `${host}:8008` },
  etcd3: { hosts: NODES.map((node) => `${node.host}:2379`) },
  bootstrap: {
    dcs: {
      // The minimum of Patroni.
      ttl: 20,
      loop_wait: 3,
      retry_timeout: 5,
      // Fail over to a synchronous standby instead of restarting a crashed server.
      primary_start_timeout: 0,
      synchronous_mode: true,
      synchronous_mode_strict: true,
      postgresql: { use_pg_rewind: true, parameters: { max_connections: 300, wal_log_hints: 'on' } },
    },
    initdb: [
      'data-checksums',
      { encoding: 'UTF8' },
      { locale: 'C' },
      { 'locale-provider': 'builtin' },
      { 'builtin-locale': 'C.UTF-8' },
    ],
  },
  postgresql: {
    listen: `${host}:5432`,
    connect_address: `${host}:5432`,
    data_dir: `${DISK}/postgres`,
    bin_dir: '/usr/lib/postgresql/18/bin',
    pgpass: `${DISK}/pgpass`,
    authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
    // The root folder of the programs has no /dev/shm.
    parameters: { unix_socket_directories: DISK, dynamic_shared_memory_type: 'mmap', max_wal_size: '256MB' },
    pg_hba: [
      'local all all trust',
      ...['all', 'replication'].map((db) => `host ${db} all ${NETWORK}.0/24 trust`),
    ],
  },
});

const etcdArguments = ({ name, host }: Node): string =>
  [
    `--name ${name} --data-dir ${DISK}/etcd --initial-cluster-state new`,
    `--listen-peer-urls http://${host}:2380 --initial-advertise-peer-urls http://${host}:2380`,
    `--listen-client-urls http://${host}:2379 --advertise-client-urls http://${host}:2379`,
    `--initial-cluster ${NODES.map((node) => `${node.name}=http://${node.host}:2380`).join()}`,
  ].join(' ');

const sh = (script: string): Promise<string> => run('sh', ['-euc', script]);

/** The members according to a majority of the nodes, because a disconnected or frozen node still reports an old leader. */
const members = async (): Promise<Member[]> => {
  const requests = NODES.map(async ({ host }): Promise<Member[]> => {
    const response = await fetch(`http://${host}:8008/cluster`, { signal: AbortSignal.timeout(1_000) });
    return ((await response.json()) as { members: Member[] }).members;
  });
  const responses = await Promise.all(requests.map((request) => request.catch(() => undefined)));
  const lists = responses.filter((list) => list !== undefined);
  const leaders = lists.map((list) => list.find(({ role }) => role === 'leader')?.name);
  const isMajority = (leader?: string) => leaders.filter((name) => name === leader).length > 1;
  return lists.find((_, index) => isMajority(leaders[index])) ?? [];
};

const isRunning = ({ state }: Member): boolean => /running|streaming/.test(state);

/** Returns the running node with a role; undefined while there is none. */
const nodeWith = async (role: Member['role']): Promise<Node | undefined> => {
  const member = (await members()).find((candidate) => candidate.role === role && isRunning(candidate));
  return NODES.find(({ name }) => name === member?.name);
};

const waitUntilHealthy = (): Promise<void> =>
  waitFor('all nodes of PostgreSQL run, one as a synchronous standby', async () => {
    const running = (await members()).filter(isRunning);
    return running.length === NODES.length && running.some(({ role }) => role === 'sync_standby');
  });

/** Disconnects or connects the network of a node. */
const setLink = async ({ name }: Node, state: 'down' | 'up'): Promise<void> =>
  void (await sh(`ip -n ${SWITCH} link set ${name} ${state}`));

/** Starts three nodes with the programs in a folder created by base-images/citus.sh. Needs root. Disposal removes the nodes. */
export const startPatroni = async (root: string) => {
  /** Id of the process that keeps a node's network and disk while its programs are killed, by name of the node. */
  const keepers = new Map<string, number>();
  const enter = ({ name }: Node): string => `nsenter --net --mount --target ${keepers.get(name)}`;

  const start = async (node: Node): Promise<void> => {
    const program = (command: string): string =>
      `${enter(node)} setsid chroot --userspec=${USER} ${root} ${command} >>/tmp/${node.name}.log 2>&1 </dev/null &`;
    await sh(program(`etcd ${etcdArguments(node)}`));
    await sh(program(`patroni ${DISK}/patroni.yml`));
  };

  const create = async (node: Node): Promise<void> => {
    const { name, host } = node;
    const disk = root + DISK;
    await sh(`
      ip netns add ${name}
      ip -n ${SWITCH} link add ${name} type veth peer name eth0 netns ${name}
      ip -n ${SWITCH} link set ${name} master bridge up
      ip -n ${name} addr add ${host}/24 dev eth0
      ip -n ${name} link set eth0 up
      ip -n ${name} link set lo up`);
    const mounts = `mount -t proc proc ${root}/proc && mount -t tmpfs -o size=1g,uid=65534,mode=700 tmpfs ${disk}`;
    const keeper = `unshare --mount sh -euc '${mounts} && echo $$ && exec sleep infinity'`;
    // The keeper writes its id to a file, because `run` waits until the output is closed.
    const pid = await sh(`
      rm -f /tmp/${name}.pid
      ip netns exec ${name} ${keeper} >/tmp/${name}.pid 2>&1 </dev/null &
      until grep -qs . /tmp/${name}.pid; do sleep 0.1; done
      cat /tmp/${name}.pid`);
    keepers.set(name, Number(pid));
    const settings = JSON.stringify(patroniSettings(node));
    await sh(`printf '%s' '${settings}' >/proc/${Number(pid)}/root${disk}/patroni.yml`);
    await start(node);
  };

  const pidsOf = async ({ name }: Node): Promise<string[]> =>
    (await sh(`ip netns pids ${name}`)).split('\n').filter((pid) => pid && Number(pid) !== keepers.get(name));
  /** Sends a signal to all processes of a node; after SIGKILL `start` starts them again. */
  const signal = async (node: Node, name: 'KILL' | 'STOP' | 'CONT'): Promise<void> =>
    void (await sh(`kill -${name} ${(await pidsOf(node)).join(' ')} 2>/dev/null || true`));

  await using stack = new AsyncDisposableStack();
  stack.defer(async () => void (await sh(`ip netns del ${SWITCH}`)));
  await sh(`
    ip netns add ${SWITCH}
    ip -n ${SWITCH} link add bridge type bridge
    ip -n ${SWITCH} link set bridge up
    ip link add ${SWITCH} type veth peer name machine netns ${SWITCH}
    ip -n ${SWITCH} link set machine master bridge up
    ip addr add ${NETWORK}.1/24 dev ${SWITCH}
    ip link set ${SWITCH} up`);
  for (const node of NODES) {
    stack.defer(async () => {
      await signal(node, 'KILL');
      const keeper = keepers.get(node.name);
      if (keeper) await sh(`kill -KILL ${keeper} || true`);
      await sh(`ip netns del ${node.name} || true`);
    });
    await create(node);
  }
  await waitUntilHealthy();
  const hosts = NODES.map(({ host }) => host).join();
  return Object.assign(stack.move(), {
    /** URL of the database `postgres`, with all hosts; its superuser has no password. */
    url: `postgres://postgres@${NODES[0]?.host}:5432/postgres?host=${hosts}&target_session_attrs=read-write`,
    primary: () => nodeWith('leader'),
    synchronousStandby: () => nodeWith('sync_standby'),
    waitUntilHealthy,
    signal,
    start,
    setLink,
    fillDisk: async (node: Node): Promise<void> =>
      void (await sh(`${enter(node)} dd if=/dev/zero of=${root}${DISK}/filler bs=1M 2>/dev/null || true`)),
    emptyDisk: async (node: Node): Promise<void> =>
      void (await sh(`${enter(node)} rm ${root}${DISK}/filler`)),
    switchOver: async (from: Node, to: Node): Promise<void> => {
      const body = JSON.stringify({ leader: from.name, candidate: to.name });
      await fetch(`http://${from.host}:8008/switchover`, { method: 'POST', body });
    },
  });
};

export type PatroniCluster = Awaited<ReturnType<typeof startPatroni>>;
