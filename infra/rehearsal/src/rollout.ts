import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postRequests, repeat } from '@platform/e2e/load';
import type { StackFile } from '@platform/e2e/stack';
import { ROOT, stopping } from './command.ts';
import type { Engine } from './engine.ts';
import type { Deployment } from './platform.ts';

/** A table of each service that every request of `postRequests` uses. */
const TABLES: Record<string, string> = {
  'task-manager': 'tasks',
  'quest-service': 'quests',
  'store-webhooks': 'stores',
  'wallet-operator': 'players',
  'verify-projects': 'projects',
  consignments: 'consignments',
};
const READY_MS = 120_000;
const CONNECTIONS = 2;

/** Builds the next version of a service: the same code, and a migration that adds a column. */
const buildNext = async ({ docker }: Engine, image: string, service: string): Promise<void> => {
  const table = TABLES[service];
  if (table === undefined)
    throw new Error(
      `Name a table of ${service} in infra/rehearsal/src/rollout.ts, and a request in infra/e2e/src/load.ts.`,
    );
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'rehearsal-next-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const migrations = `services/${service}/migrations`;
  await cp(join(ROOT, migrations), join(folder, 'migrations'), { recursive: true });
  const journalFile = join(folder, 'migrations/meta/_journal.json');
  const journal = JSON.parse(await readFile(journalFile, 'utf8')) as { entries: object[] };
  journal.entries.push({
    idx: journal.entries.length,
    version: '7',
    when: Date.now(),
    tag: 'next',
    breakpoints: true,
  });
  await writeFile(journalFile, JSON.stringify(journal));
  await writeFile(join(folder, 'migrations/next.sql'), `alter table "${table}" add column "next" text;`);
  await writeFile(join(folder, 'Dockerfile'), `FROM ${image}:latest\nCOPY migrations /repo/${migrations}\n`);
  await docker('build', '--tag', `${image}:next`, folder);
};

/** Status of /readyz in a container: 503 until its migrations have run; undefined while it does not listen. */
const readiness = async ({ docker }: Engine, container: string): Promise<number | undefined> => {
  const ask = 'console.log((await fetch(`http://127.0.0.1:${process.env.PORT}/readyz`)).status)';
  const printed = await docker('exec', container, 'node', '--input-type=module', '--eval', ask).catch(
    () => '',
  );
  return printed === '' ? undefined : Number(printed);
};

const waitFor = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  const giveUp = Date.now() + READY_MS;
  while (!(await isSo())) {
    if (Date.now() > giveUp) throw new Error(`timed out: ${what}`);
    await sleep(200, undefined, { signal: stopping });
  }
};

/**
 * Replaces each service by its next version while clients send POST requests: starts a container of the new version beside
 * the old one, which must not become ready before its migration has run, then stops the old one. One line for each request
 * that failed.
 */
export const replaceVersions = async (engine: Engine, platform: Deployment): Promise<string[]> => {
  const { compose, services, stackFile } = platform;
  const end = new AbortController();
  const file = JSON.parse(await readFile(stackFile, 'utf8')) as StackFile;
  const clients = Object.entries(await postRequests(file)).map(
    async ([service, request]) => [service, await repeat(request, CONNECTIONS, end.signal)] as const,
  );
  const containersOf = async (service: string): Promise<string[]> =>
    (await compose(`ps -q ${service}`)).split('\n').filter(Boolean);

  const replace = async (service: string): Promise<void> => {
    await buildNext(engine, platform.imageOf(service), service);
    const before = await containersOf(service);
    const startBeside = `up --detach --no-deps --no-recreate --scale ${service}=2 ${service}`;
    await compose(startBeside, { TAG: 'next' });
    const [added = ''] = (await containersOf(service)).filter((id) => !before.includes(id));
    await waitFor(`${service} answers`, async () => (await readiness(engine, added)) !== undefined);
    if ((await readiness(engine, added)) !== 503)
      throw new Error(`the next version of ${service} is ready before its migration has run`);
    await compose(`run --rm --no-deps -T ${service}-migrate`, { TAG: 'next' });
    await waitFor(`${service} is ready`, async () => (await readiness(engine, added)) === 200);
    await engine.docker('stop', ...before);
    await engine.docker('rm', ...before);
  };
  try {
    for (const service of services) await replace(service);
  } finally {
    end.abort();
  }
  return (await Promise.all(clients)).flatMap(([service, { requests, failures }]) => [
    ...(requests > 0 ? [] : [`${service} got no request`]),
    ...failures.map((failure) => `${service}, while versions were replaced: ${failure}`),
  ]);
};
