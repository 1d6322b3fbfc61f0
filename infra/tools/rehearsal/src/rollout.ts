import { readFile, readdir, writeFile, cp, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFailures, whileClientsRun, type Traffic } from '@platform/e2e/load';
import { services, tagVariable } from '@platform/service-list';
import type { ListedService } from '@platform/service-list/read';
import { waitForGrowth, waitForMore, waitUntilStored } from './clients.ts';
import { ROOT, waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import { imageOf, type Deployment } from './platform.ts';

/** A column that the next version of a service renames; the clients (infra/tools/e2e/src/load.ts) write it. */
type Rename = ListedService['rehearsal']['rename'];

/** Adds the new column beside the old one; a trigger keeps both equal, so that old and new code can run together. */
const expand = ({ table, column, type }: Rename): string => `
alter table "${table}" add column "${column}_next" ${type};
create function keep_${column}_equal() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.${column}_next := coalesce(new.${column}_next, new.${column});
  elsif new.${column} is distinct from old.${column} then
    new.${column}_next := new.${column};
  end if;
  new.${column} := new.${column}_next;
  return new;
end $$;
create trigger keep_${column}_equal before insert or update on "${table}"
  for each row execute function keep_${column}_equal();
update "${table}" set "${column}_next" = "${column}";
`;

/** Removes the old column. No running version may use it. */
const contract = ({ table, column }: Rename): string => `
drop trigger keep_${column}_equal on "${table}";
drop function keep_${column}_equal();
alter table "${table}" drop column "${column}";
`;

/** Replaces code in the sources of a service. @throws when no file contains it */
export const replaceCode = async (folder: string, old: string, next: string): Promise<void> => {
  const names = await readdir(folder, { recursive: true });
  let edits = 0;
  for (const name of names.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))) {
    const text = await readFile(join(folder, name), 'utf8');
    if (!text.includes(old)) continue;
    await writeFile(join(folder, name), text.replaceAll(old, next));
    edits += 1;
  }
  if (edits === 0) throw new Error(`no file in ${folder} contains ${old}`);
};

const addMigration = async (copy: string, tag: string, sql: string): Promise<void> => {
  const folder = join(copy, 'migrations');
  const journalFile = join(folder, 'meta/_journal.json');
  const journal = JSON.parse(await readFile(journalFile, 'utf8')) as {
    entries: { when: number; [field: string]: unknown }[];
  };
  const { length: idx } = journal.entries;
  const when = Math.max(Date.now(), ...journal.entries.map((entry) => entry.when + 1));
  journal.entries.push({ idx, version: '7', when, tag, breakpoints: true });
  await writeFile(journalFile, JSON.stringify(journal));
  await writeFile(join(folder, `${tag}.sql`), sql);
};

const renameOf = (service: string): Rename => {
  const listed = services.find(({ name }) => name === service);
  if (listed === undefined) throw new Error(`services.yaml does not list ${service}`);
  return listed.rehearsal.rename;
};

/** Turns a copy of a service into its next version: it uses another name of a column, which a migration adds. */
export const renameColumn = async (service: string, copy: string): Promise<void> => {
  const rename = renameOf(service);
  const { column, code = [[column, `${column}_next`]] } = rename;
  for (const [old, next] of code) await replaceCode(join(copy, 'src'), old, next);
  await addMigration(copy, 'expand', expand(rename));
};

/** Turns a copy of the next version into the last one: the same code, and a migration that drops the old column. */
export const dropOldColumn = (service: string, copy: string): Promise<void> =>
  addMigration(copy, 'contract', contract(renameOf(service)));

/** Tag of the version that `renameColumn` creates. */
const NEXT = 'next';
/** Tag of the version that `dropOldColumn` creates. */
const LAST = 'last';

/** Builds the images of the next two versions: the image of the first version, with other code and migrations. */
export const buildVersions = async ({ docker }: Engine, { services }: Deployment): Promise<void> => {
  const build = async (service: string): Promise<void> => {
    await using temporary = await mkdtempDisposable(join(tmpdir(), 'rehearsal-next-'));
    const folder = temporary.path;
    for (const part of ['src', 'migrations'])
      await cp(join(ROOT, 'services', service, part), join(folder, part), { recursive: true });
    const [image, target] = [imageOf(service), `/repo/services/${service}`];
    const lines = ['src', 'migrations'].map((part) => `COPY ${part} ${target}/${part}`);
    await writeFile(join(folder, 'Dockerfile'), [`FROM ${image}:latest`, ...lines].join('\n'));
    await renameColumn(service, folder);
    await docker('build', '--tag', `${image}:${NEXT}`, folder);
    await dropOldColumn(service, folder);
    await docker('build', '--tag', `${image}:${LAST}`, folder);
  };
  await Promise.all(services.map(build));
};

const migrate = ({ compose }: Deployment, service: string, tag: string): Promise<string> =>
  compose(`run --rm --no-deps ${service}-migrate`, tag);

const WEBHOOKS = 'store-webhooks';

/**
 * Runs the migrations that drop the old columns while the first version still uses them. Then requests to every service
 * must fail, except webhooks, which are spooled. Returns one line for each request that failed before the migrations, and
 * for each webhook that failed.
 */
export const migrateTooEarly = async (platform: Deployment, traffic: Traffic): Promise<string[]> => {
  const failedBefore = findFailures(traffic);
  const webhooksBefore = traffic[WEBHOOKS]?.failures.length ?? 0;
  for (const service of platform.services) await migrate(platform, service, LAST);
  await waitForGrowth(
    'requests fail after migrations that came too early, and webhooks are acknowledged',
    traffic,
    (service, { acknowledged, failures }) => (service === WEBHOOKS ? acknowledged.size : failures.length),
  );
  const webhooks = traffic[WEBHOOKS]?.failures.slice(webhooksBefore) ?? [];
  return [...failedBefore, ...webhooks.map((failure) => `${WEBHOOKS} after the migrations: ${failure}`)];
};

/** Returns the status of /readyz in a container; undefined while it does not listen. */
const readiness = async ({ docker }: Engine, container: string): Promise<number | undefined> => {
  const script = 'console.log((await fetch(`http://127.0.0.1:${process.env.PROBE_PORT}/readyz`)).status)';
  const output = await docker('exec', container, 'node', '--input-type=module', '--eval', script).catch(
    () => '',
  );
  return output === '' ? undefined : Number(output);
};

/** Checks that the next version is not ready before its migration has run. The gateway does not know this container. */
const checkReadiness = async (engine: Engine, platform: Deployment, service: string): Promise<void> => {
  const container = (await platform.compose(`run --detach --no-deps ${service}`, NEXT)).trim();
  try {
    await waitFor(`${service} answers`, async () => (await readiness(engine, container)) !== undefined);
    if ((await readiness(engine, container)) !== 503)
      throw new Error(`the next version of ${service} is ready before its migration has run`);
  } finally {
    await engine.docker('rm', '--force', '--volumes', container);
  }
};

/** Replaces the version of a service with the commands of docs/deploy.md. */
const replaceVersion = (platform: Deployment, service: string, tag: string): Promise<string> =>
  platform.runDocumented('deploy.md', 'Replace a version', {}, [
    ['1.1.0', tag],
    // Nothing to pull: `buildVersions` has built the image.
    ['docker compose pull', ': docker compose pull'],
    ['quest-service', service],
    ['QUEST_SERVICE_TAG', tagVariable(service)],
  ]);

/** Replaces the version of the gateway, which interrupts requests, with the command of docs/deploy.md. */
const replaceGateway = async ({ docker }: Engine, platform: Deployment): Promise<void> => {
  const names = ['gateway', 'gateway-telemetry'];
  for (const name of names) {
    const image = imageOf(name);
    await docker('tag', `${image}:latest`, `${image}:${NEXT}`);
  }
  platform.useTag(NEXT, ['gateway']);
  await platform.compose(`up --wait --no-deps ${names.join(' ')}`);
  await platform.ready();
  for (const name of names) {
    const format = ['--format', '{{.Config.Image}}'];
    const image = (await docker('inspect', ...format, platform.containers[name] ?? '')).trim();
    if (!image.endsWith(`:${NEXT}`)) throw new Error(`${name} still runs ${image}`);
  }
};

/**
 * Updates in the right order while clients send requests: replaces each service by its next version (the first service is
 * also reverted and replaced again), then runs the migrations that drop the old columns. Later commands use the last
 * version. Returns one line for each request that failed.
 * @throws when something that was acknowledged is not stored
 */
export const replaceVersions = async (engine: Engine, platform: Deployment): Promise<string[]> => {
  const traffic = await whileClientsRun(platform.access, async (running) => {
    for (const [index, service] of platform.services.entries()) {
      await checkReadiness(engine, platform, service);
      await replaceVersion(platform, service, NEXT);
      if (index > 0) continue;
      await waitForMore(running);
      await replaceVersion(platform, service, platform.labels['version'] ?? '');
      await waitForMore(running);
      await replaceVersion(platform, service, NEXT);
    }
    for (const service of platform.services) await migrate(platform, service, LAST);
    platform.useTag(LAST);
    await waitForMore(running);
  });
  await waitUntilStored(platform, traffic);
  await replaceGateway(engine, platform);
  return findFailures(traffic);
};
