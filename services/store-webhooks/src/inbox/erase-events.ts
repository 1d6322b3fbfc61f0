import type { ISql } from 'postgres';
import { arrayOf } from '../db/sql.ts';
import { mentions } from '../providers/payload-parsing.ts';
import { spellingsOf } from './spellings.ts';

/** Texts that identify a person in a body. Contacts are found in all spellings that `spellingsOf` knows, or not at all. */
export interface Identifiers {
  ids: readonly string[];
  contacts: readonly string[];
}

/** Ids of the events whose bodies were searched, and of those whose bodies mention the person. */
interface Search {
  values: readonly string[];
  searched: readonly string[];
  found: readonly string[];
}

/** Each is at most 1 MiB. */
const bodiesPerStatement = 100;

/** The parts of a value that are the same in JSON with any escapes and in a form, with spaces between them. */
const plainParts = (value: string): string => (value.match(/[A-Za-z\d]{2,}/g) ?? []).join(' ');

/** Whether the body of an event has a value as a string, a number or a field name, however it is written. */
const bodyMentions = async (
  sql: ISql,
  { storeId, id }: { storeId: string; id: string },
  values: readonly string[],
): Promise<boolean> => {
  const [event] = await sql<{ body: Buffer; type: string | null }[]>`
    select body, headers ->> 'content-type' as type from events where store_id = ${storeId} and id = ${id}`;
  return event !== undefined && mentions(event.body, event.type ?? undefined, values);
};

/**
 * Searches the bodies of the events that are not done, except those that an earlier search has read. Bodies have no index:
 * events that are done are found by their entity alone.
 */
export const searchEvents = async (
  sql: ISql,
  storeId: string,
  { ids: personIds, contacts }: Identifiers,
  earlier?: Search,
): Promise<Search> => {
  const spelled = contacts.filter((contact) => spellingsOf(contact) !== undefined);
  const values = [...personIds, ...spelled];
  if (values.length === 0) return { values, searched: [], found: [] };
  const isKnown = earlier !== undefined && values.every((value) => earlier.values.includes(value));
  const searched = isKnown ? earlier.searched : [];
  const rows = await sql<{ id: string }[]>`
    select id from queue where store_id = ${storeId}
    union select id from results where store_id = ${storeId} and state <> 'done'
    except select unnest(${arrayOf(searched)}::text::uuid[])`;
  const ids = rows.map(({ id }) => id);
  const found = [...(earlier?.found ?? [])];
  const jsonValues = arrayOf(values.map((value) => JSON.stringify(value)));
  const spellings = spelled.map(spellingsOf).join('|') || null;
  const parts = arrayOf(personIds.map(plainParts));
  for (let at = 0; at < ids.length; at += bodiesPerStatement) {
    const batch = arrayOf(ids.slice(at, at + bodiesPerStatement));
    // A compressed body would be read again for each value, a copy is not.
    const candidates = await sql<{ id: string; isMatch: boolean }[]>`
      select id, "isMatch"
      from events e cross join lateral (select e.body || ''::bytea as copy offset 0) as read
      cross join lateral (
        select exists (
          select from unnest(${jsonValues}::text::text[]) as value
          where position(convert_to(value, 'UTF8') in copy) > 0
        ) or coalesce(lower(encode(copy, 'escape') collate "C") ~ ${spellings}, false) as "isMatch" offset 0
      ) as match
      where store_id = ${storeId} and id = any(${batch}::text::uuid[]) and body_hash is null and ("isMatch" or exists (
        select from unnest(${parts}::text::text[]) as value where not exists (
          select from string_to_array(value, ' ') as parts, unnest(parts) as part
          where position(convert_to(part, 'UTF8') in copy) = 0)))`;
    for (const { id, isMatch } of candidates)
      if (isMatch || (await bodyMentions(sql, { storeId, id }, personIds))) found.push(id);
  }
  return { values, searched: [...searched, ...ids], found };
};

/**
 * Ends the events about a person that are to be processed, and empties the bodies of all; a hash stays. Returns how many
 * bodies there were.
 */
export const eraseEvents = async (
  sql: ISql,
  storeId: string,
  entities: readonly string[],
  found: readonly string[],
): Promise<number> => {
  await sql`
    with ended as (
      delete from queue where store_id = ${storeId}
        and (entity = any(${arrayOf(entities)}::text::text[]) or id = any(${arrayOf(found)}::text::uuid[]))
      returning store_id, id, attempts)
    insert into results (store_id, id, state, attempts, error, finished_at)
    select store_id, id, 'ignored', attempts, 'erased', now() from ended`;
  const erase = sql`update events e set body = '', body_hash = sha256(body) where store_id = ${storeId} and body_hash is null`;
  // The condition of the index events_entity.
  const ids = entities.map((entity) => entity.slice(entity.indexOf(':') + 1));
  let { count } = await sql`
    ${erase} and substr(entity, strpos(entity, ':') + 1) = any(${arrayOf(ids)}::text::text[]) and entity is not null
      and entity = any(${arrayOf(entities)}::text::text[])`;
  for (let at = 0; at < found.length; at += bodiesPerStatement)
    count += (
      await sql`${erase} and id = any(${arrayOf(found.slice(at, at + bodiesPerStatement))}::text::uuid[])`
    ).count;
  return count;
};
