import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { services } from '@platform/service-list';
import type { ListedService } from '@platform/service-list/read';

/** A column that a request of `postRequests` (infra/tools/e2e) writes, and that the next version of the service renames. */
type Rename = ListedService['rehearsal']['rename'];

/** Adds the new column beside the old one. Old and new code may run together: each sees what the other writes. */
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

/** Removes the old column, which no running version may use any more. */
const contract = ({ table, column }: Rename): string => `
drop trigger keep_${column}_equal on "${table}";
drop function keep_${column}_equal();
alter table "${table}" drop column "${column}";
`;

/** Replaces code in the sources of a service. @throws when no file contains it */
export const edit = async (folder: string, old: string, next: string): Promise<void> => {
  const names = await readdir(folder, { recursive: true });
  let edits = 0;
  for (const name of names.filter((each) => each.endsWith('.ts') && !each.endsWith('.test.ts'))) {
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

/** Makes a copy of a service its next version: a column has another name, and the migration adds it. */
export const renameColumn = async (service: string, copy: string): Promise<void> => {
  const rename = renameOf(service);
  const { column, code = [[column, `${column}_next`]] } = rename;
  for (const [old, next] of code) await edit(join(copy, 'src'), old, next);
  await addMigration(copy, 'expand', expand(rename));
};

/** Makes a copy of the next version the one after it: the same code, and the old column is dropped. */
export const dropOldColumn = (service: string, copy: string): Promise<void> =>
  addMigration(copy, 'contract', contract(renameOf(service)));
