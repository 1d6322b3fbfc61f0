/**
 * `node migrations.ts`, in the folder of a service. Fails when src/db/tables.ts differs from the snapshot of the last
 * committed migration, when the snapshots do not form one chain (two branches each added a migration), when a migration
 * names the schema public, or when it breaks the version that runs while it is applied.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { generateDrizzleJson } from 'drizzle-kit/api';
import { rolloutFaults } from './rollout.ts';

interface Snapshot {
  id: string;
  prevId: string;
}

const readJson = async (...path: string[]): Promise<unknown> =>
  JSON.parse(await readFile(join(...path), 'utf8'));

const contentOf = ({ id: _id, prevId: _prevId, ...content }: Snapshot): object => content;

const folder = process.cwd();

const snapshotFault = async (): Promise<string | undefined> => {
  const meta = join(folder, 'migrations/meta');
  const { entries } = (await readJson(meta, '_journal.json')) as { entries: { idx: number; tag: string }[] };
  const snapshots = await Promise.all(
    entries.map(
      ({ idx }) => readJson(meta, `${String(idx).padStart(4, '0')}_snapshot.json`) as Promise<Snapshot>,
    ),
  );
  const unchained = entries.find(
    (_, index) => index > 0 && snapshots[index]?.prevId !== snapshots[index - 1]?.id,
  );
  if (unchained !== undefined)
    return `${unchained.tag} does not follow the migration before it; generate it again`;
  const tables = (await import(join(folder, 'src/db/tables.ts'))) as Record<string, unknown>;
  const current = JSON.parse(JSON.stringify(generateDrizzleJson(tables))) as Snapshot;
  const last = snapshots.at(-1);
  if (last !== undefined && isDeepStrictEqual(contentOf(current), contentOf(last))) return undefined;
  return 'src/db/tables.ts has changed without a migration; run migrations:generate';
};

const files = (await readdir(join(folder, 'migrations'))).filter((file) => file.endsWith('.sql')).toSorted();
const publicSchemaFault = async (file: string): Promise<string | undefined> =>
  /\bpublic\b"?\./.test(await readFile(join(folder, 'migrations', file), 'utf8'))
    ? `migrations/${file} names the schema public: remove "public". (the schema is a setting, DATABASE_SCHEMA)`
    : undefined;
const later = files.slice(1).map((file) => join('migrations', file));
const schemaFaults = await Promise.all(files.map(publicSchemaFault));
for (const fault of [await snapshotFault(), ...schemaFaults, ...rolloutFaults(later)]) {
  if (fault === undefined) continue;
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}
