import type { CpuShare } from '@platform/service-kit/cpu-share';
import type { ISql, Sql } from 'postgres';
import { arrayOf } from '../db/sql.ts';
import { endEvents, release } from './end-events.ts';
import type { ClaimedRow } from './event.ts';
import { createPersonFinder, digitsOf, isMail, minIdLength, type Person } from './person-finder.ts';

/** Ids of the events whose bodies were searched for these values, and of those that are about the person. */
interface Search {
  values: readonly string[];
  searched: Set<string>;
  found: Set<string>;
}

/** Together, of one statement. */
const maxBytes = 8 * 2 ** 20;
const bodiesPerStatement = 100;
/** A paused store may have hundreds of thousands of ignored events, which no statement could list in its time. */
const idsPerStatement = 5000;

/** An event whose body must be searched, because its entity does not say whose it is. */
interface Candidate {
  id: string;
  /** Of its body. */
  bytes: number;
}

/** The events of a store that are not done and have their bodies, by the order of the indexes on queue and results. */
async function* unfinishedEvents(sql: ISql, storeId: string): AsyncGenerator<readonly Candidate[], void> {
  for (const [table, group] of [
    ['queue', sql`entity`],
    ['results', sql`state`],
  ] as const)
    for (let last = { group: '', id: '00000000-0000-0000-0000-000000000000' }, isMore = true; isMore;) {
      const rows = await sql<(Candidate & { group: string; isWhole: boolean })[]>`
        select "group", id, octet_length(body) as bytes, body_hash is null as "isWhole" from (
          select ${group} as "group", id from ${sql(table)}
          where store_id = ${storeId} and (${group}, id) > (${last.group}, ${last.id}::uuid)
            ${table === 'results' ? sql`and state <> 'done'` : sql``}
          order by ${group}, id limit ${idsPerStatement}) as unfinished
        join events using (id) where events.store_id = ${storeId} order by "group", id`;
      last = rows.at(-1) ?? last;
      isMore = rows.length === idsPerStatement;
      yield rows.filter(({ isWhole }) => isWhole);
    }
}

/**
 * The events that are done and belong to orders whose consumer is unknown, or to their delivery jobs, and have their bodies.
 * The mapping of the store may not name the consumer, or may have named it only later.
 */
async function* eventsOfUnknownConsumers(
  sql: ISql,
  storeId: string,
): AsyncGenerator<readonly Candidate[], void> {
  for (let last = ''; ;) {
    const [page] = await sql<[{ last: string | null; events: Candidate[] }]>`
      with unknown as materialized (
        select id from orders where store_id = ${storeId} and consumer_id is null and id > ${last}
        order by id limit ${idsPerStatement}),
      entities as (
        select id, 'order:' || id as entity from unknown
        union all
        select j.id, 'job:' || j.id from unknown join delivery_jobs j on j.store_id = ${storeId} and j.order_id = unknown.id)
      select (select max(id) from unknown) as last, (
        select coalesce(json_agg(json_build_object('id', e.id, 'bytes', octet_length(e.body))), '[]')
        from entities join events e on e.store_id = ${storeId} and e.entity = entities.entity
          and substr(e.entity, strpos(e.entity, ':') + 1) = entities.id
        where body_hash is null) as events`;
    if (page.last === null) return;
    ({ last } = page);
    yield page.events;
  }
}

async function* candidates(sql: ISql, storeId: string): AsyncGenerator<readonly Candidate[], void> {
  yield* unfinishedEvents(sql, storeId);
  yield* eventsOfUnknownConsumers(sql, storeId);
}

/** Of a mail address or an id: the parts that are the same in JSON with any escapes and in a form, with spaces between them. */
const plainParts = (value: string): string => (value.toLowerCase().match(/[a-z\d]{2,}/g) ?? []).join(' ');

/** A pattern of the last eight digits of a phone number; country and zeros before them may be missing. Separators are escaped in a form. */
const spelled = (digits: string): string =>
  digits
    .slice(-8)
    .split('')
    .join(String.raw`(?:[ ()./+\\-]|%2[0-9bdef])*`);

/**
 * Searches the bodies of the events that are not done or whose consumer is unknown, except those that an `earlier` search has
 * read, which it continues. Bodies have no index: other events are found by their entity alone.
 */
export const searchEvents = async (
  sql: ISql,
  reading: CpuShare,
  storeId: string,
  person: Person,
  earlier?: Search,
): Promise<Search> => {
  const { memberId, contacts } = person;
  const texts = [...(memberId.length < minIdLength ? [] : [memberId]), ...contacts.filter(isMail)];
  const numbers = contacts.flatMap((contact) => digitsOf(contact) ?? []);
  const values = [...texts, ...numbers];
  const found = earlier?.found ?? new Set<string>();
  if (values.length === 0) return { values, searched: new Set(), found };
  const isKnown = earlier !== undefined && values.every((value) => earlier.values.includes(value));
  const searched = isKnown ? earlier.searched : new Set<string>();
  const isAbout = createPersonFinder(person);
  const parts = arrayOf(texts.map(plainParts));
  const search = async (ids: readonly string[]): Promise<void> => {
    const matches = await sql<{ id: string; body: Buffer; type: string | null; isOfAnother: boolean }[]>`
      select id, body, headers ->> 'content-type' as type,
        exists (select from orders o where o.store_id = e.store_id and o.consumer_id <> ${memberId}
          and e.entity like 'order:%' and o.id = substr(e.entity, 7))
        or exists (select from delivery_jobs j join orders o on o.store_id = j.store_id and o.id = j.order_id
          where j.store_id = e.store_id and o.consumer_id <> ${memberId}
          and e.entity like 'job:%' and j.id = substr(e.entity, 5)) as "isOfAnother"
      from events e cross join lateral (select lower(encode(e.body, 'escape') collate "C") as written offset 0) as read
      where store_id = ${storeId} and id = any(${arrayOf(ids)}::text::uuid[]) and body_hash is null and (
        exists (select from unnest(${parts}::text::text[]) as value where not exists (
          select from unnest(string_to_array(value, ' ')) as part where strpos(written, part) = 0))
        or written ~ any(${arrayOf(numbers.map(spelled))}::text::text[]))`;
    for (const { id, body, type, isOfAnother } of matches) {
      const isFound = await reading([storeId], () => isAbout(body, type ?? undefined, isOfAnother));
      if (isFound) found.add(id);
    }
  };
  let [batch, size]: [string[], number] = [[], 0];
  const searchBatch = async (): Promise<void> => {
    if (batch.length > 0) await search(batch);
    [batch, size] = [[], 0];
  };
  for await (const events of candidates(sql, storeId))
    for (const { id, bytes } of events) {
      // One that ended meanwhile comes twice.
      if (searched.has(id)) continue;
      if (batch.length === bodiesPerStatement || size + bytes > maxBytes) await searchBatch();
      searched.add(id);
      batch.push(id);
      size += bytes;
    }
  await searchBatch();
  return { values, searched, found };
};

/** The ids of the orders that events which were found are about. */
export const ordersOf = async (
  sql: ISql,
  storeId: string,
  { found }: Pick<Search, 'found'>,
): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select distinct substr(entity, 7) as id from events
    where store_id = ${storeId} and id = any(${arrayOf([...found])}::text::uuid[]) and entity like 'order:%'`;
  return rows.map(({ id }) => id);
};

/**
 * Empties the bodies of the events about a person, of which a hash stays, and ends those that are to be processed: in this
 * order, because a replay may add events to the queue until their bodies are locked. Events that wait behind them become due.
 * Returns how many bodies there were.
 */
export const eraseEvents = async (
  sql: ISql,
  storeId: string,
  entities: readonly string[],
  search: Pick<Search, 'found'>,
): Promise<number> => {
  const found = [...search.found];
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
  const ended = await sql<{ storeId: string; entity: string; id: string }[]>`
    with ended as (
      delete from queue where store_id = ${storeId}
        and (entity = any(${arrayOf(entities)}::text::text[]) or id = any(${arrayOf(found)}::text::uuid[]))
      returning store_id, entity, id, attempts),
    recorded as (
      insert into results (store_id, id, state, attempts, error, finished_at)
      select store_id, id, 'ignored', attempts, 'erased', now() from ended)
    select store_id as "storeId", entity, id from ended`;
  await release(sql, ended);
  return count;
};

/** Ends events of unknown stores and empties their bodies, because nothing else would process or delete them. */
export const endOrphanedEvents = (sql: Sql, orphaned: readonly ClaimedRow[]): Promise<void> =>
  sql.begin(async (tx) => {
    await endEvents(tx, orphaned, 'ignored', 'store_unknown');
    for (const [storeId, events] of Map.groupBy(orphaned, (event) => event.storeId))
      await eraseEvents(tx, storeId, [], { found: new Set(events.map(({ id }) => id)) });
  });
