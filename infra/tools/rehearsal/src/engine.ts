import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run, succeeds, waitFor } from './command.ts';
import { dockerHost, searchPath } from './env.ts';

/** A Docker engine. */
export interface Engine extends AsyncDisposable {
  /** Runs `docker`, returns its output. */
  docker: (...args: string[]) => Promise<string>;
  /** Runs shell commands that use `docker compose`, with variables for compose.yaml. */
  compose: (commands: string, variables: Record<string, string>) => Promise<string>;
  /** Whether the rehearsal started it, so that all its images can be deleted. */
  isTemporary: boolean;
}

/** Finds the first client in the PATH that supports BuildKit: version 23 and later only with the plugin buildx. */
const findClient = async (): Promise<string> => {
  for (const file of searchPath().map((folder) => join(folder, 'docker'))) {
    // Empty if the program does not exist.
    const version = await run(file, ['--version']).catch(() => '');
    const [, major] = /version (\d+)\./.exec(version) ?? [];
    if (Number(major) < 23 || (await succeeds(file, ['buildx', 'version']))) return file;
  }
  throw new Error(
    'No Docker with BuildKit was found in the PATH. On Debian: apt-get install docker.io docker-compose mmdebstrap',
  );
};

/** Starts an engine with a folder and a socket of its own, which disposal removes. */
const startEngine = async (client: string): Promise<{ host: string } & AsyncDisposable> => {
  if (process.getuid?.() !== 0)
    throw new Error('No Docker engine answers. Start one, or run this as root, who can start dockerd.');
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await mkdtempDisposable(join(tmpdir(), 'rehearsal-engine-')));
  const host = `unix://${folder}/docker.sock`;
  const log = stack.use(await open(join(folder, 'log'), 'w'));
  const args = [`--data-root=${folder}/data`, `--exec-root=${folder}/run`, `--pidfile=${folder}/pid`];
  // A process group of its own, because disposal needs the daemon after Ctrl-C.
  const daemon = spawn('dockerd', [...args, '--host', host], {
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  });
  await once(daemon, 'spawn');
  const exited = once(daemon, 'exit');
  stack.defer(async () => {
    daemon.kill('SIGTERM');
    await exited;
  });
  await waitFor('dockerd answers', async () => {
    if (daemon.exitCode !== null)
      throw new Error(
        `dockerd did not start:\n${(await readFile(join(folder, 'log'), 'utf8')).slice(-3_000)}`,
      );
    return succeeds(client, ['--host', host, 'info']);
  });
  return Object.assign(stack.move(), { host });
};

/** Time limit in seconds for containers to become healthy; on a busy machine their health checks may time out at first. */
const HEALTHY_S = 900;

/** Returns lines for `sh -e` that wait like `up --wait` until the containers of these services (or all) are healthy. */
const waitUntilHealthy = (compose: string, services: readonly string[]): string[] => [
  `left=${HEALTHY_S}`,
  `containers=$(${compose} ps -q ${services.join(' ')})`,
  `while docker inspect --format '{{with .State.Health}}{{.Status}}{{end}}' $containers | grep -Eq 'starting|unhealthy'`,
  'do left=$((left - 1)); test $left -gt 0; sleep 1; done',
];

/**
 * Adapts commands to version 1 of compose, which is a separate program, cannot wait, requires a terminal, and pulls an
 * image that another service builds unless it was built before.
 */
const forOldCompose = (commands: string): string =>
  commands
    .split('\n')
    .flatMap((line) => {
      const [compose = '', options] = line.split(' up ');
      if (options === undefined || !options.includes('--wait')) return line;
      const build = options.includes('--build') ? [`${compose} build --parallel`] : [];
      const up = `${compose} up ${options.replace('--build', '').replace('--wait', '--detach')}`;
      // Neither an option nor the value of one (`quest-service=2`).
      const services = options.split(' ').filter((word) => /^[a-z][a-z-]*$/.test(word));
      return [...build, up, ...waitUntilHealthy(compose, services)];
    })
    .join('\n')
    .replaceAll('docker compose', 'docker-compose')
    .replaceAll(/run --rm(?! -T)/g, 'run --rm -T');

/**
 * Opens the engine that `docker` reaches, or starts a temporary one as root.
 * @throws when no engine answers and none can be started
 */
export const openEngine = async (): Promise<Engine> => {
  await using stack = new AsyncDisposableStack();
  const client = await findClient();
  const isTemporary = !(await succeeds(client, ['info', '--format', '{{.ServerVersion}}']));
  const host = isTemporary ? stack.use(await startEngine(client)).host : dockerHost();
  const env = {
    DOCKER_HOST: host,
    // A context would override the host.
    ...(isTemporary && { DOCKER_CONTEXT: undefined }),
    DOCKER_BUILDKIT: '1',
    COMPOSE_DOCKER_CLI_BUILD: '1',
    PATH: [dirname(client), ...searchPath()].join(':'),
  };
  const isOldCompose = !(await succeeds(client, ['compose', 'version']));
  return Object.assign(stack.move(), {
    docker: (...args: string[]) => run(client, args, env),
    compose: (commands: string, variables: Record<string, string>) =>
      run('sh', ['-ec', isOldCompose ? forOldCompose(commands) : commands], { ...env, ...variables }),
    isTemporary,
  });
};
