import type { ISql } from 'postgres';
import { arrayOf, plainArrayOf, type Fragment } from '../db/sql.ts';
import type { Claimer } from './claim-events.ts';
import { splitKey, repeatKey, type ReceivedEvent, type StoreResult } from './event.ts';

/**
 * All bodies as one SQL parameter. As Latin-1 text, with one character per byte, it is half as long as in
 * the driver's hexadecimal format, which is used only if there is a NUL byte.
 */
const joinedBodies = (sql: ISql, bodies: readonly Buffer[]): Fragment => {
  const bytes = Buffer.concat(bodies);
  return bytes.includes(0) ? sql`${bytes}::bytea` : sql`convert_to(${bytes.toString('latin1')}, 'LATIN1')`;
};

/**
 * The start of a statement that inserts events into `events`; `new` are those that were not stored yet, by id and by key. The key
 * of a stored event may have changed: to that of a repeat, or of an event that was refused first.
 */
const newEvents = (sql: ISql, events: readonly ReceivedEvent[]): Fragment => {
  const plain = (field: (event: ReceivedEvent) => string | number) => plainArrayOf(events.map(field));
  const texts = (field: (event: ReceivedEvent) => string | null) => arrayOf(events.map(field));
  const bodies = events.map(({ body }) => body);
  let end = 1;
  const starts = bodies.map(({ length }) => (end += length) - length);
  return sql`
    with sent as materialized (select ${joinedBodies(sql, bodies)} as bodies),
    new as (
      insert into events (store_id, id, event, service, entity, dedup, body, headers, received_at)
      select store_id, id, event, service, entity, decode(dedup, 'hex'), substring(bodies from start for length), headers,
        to_timestamp(received / 1000)
      from sent, rows from (
        unnest(${plain(({ storeId }) => storeId)}::uuid[], ${plain(({ id }) => id)}::uuid[],
          ${plain(({ event }) => event)}::text[], ${texts(({ service }) => service)}::text[],
          ${texts(({ entity }) => entity)}::text[], ${plain(({ dedup }) => dedup)}::text[],
          ${plain(({ receivedAt }) => receivedAt.getTime())}::float8[], ${plainArrayOf(starts)}::int[],
          ${plain(({ body }) => body.length)}::int[]),
        jsonb_array_elements(${JSON.stringify(events.map(({ headers }) => headers))}::jsonb))
        as input (store_id, id, event, service, entity, dedup, received, start, length, headers)
      on conflict do nothing
      returning store_id, id, coalesce(entity, id::text) as entity)`;
};

/** Comma-separated ids in one row: the driver spends more time on a row than on an id. */
interface Inserted {
  stored: string | null;
  claimed: string | null;
}

/**
 * Inserts pending events that are not stored yet, in one statement. With a claimer, it claims the events that are the first of
 * their entity in the queue; it does not see the other events that the same statement inserts.
 */
const insertPending = (sql: ISql, events: readonly ReceivedEvent[], holdMs: number, claimer?: Claimer) => {
  const [keepMs, worker] = claimer === undefined ? [null, null] : [claimer.keepMs, claimer.worker];
  return sql<Inserted[]>`
    ${newEvents(sql, events)},
    queued as (
      insert into queue (store_id, entity, id, queued_at, due_at, worker, attempts)
      select store_id, entity, id, now(), now() + coalesce(keep_ms, ${holdMs}) * interval '1 ms',
        case when keep_ms is not null then ${worker}::uuid end, case when keep_ms is null then 0 else 1 end
      from (
        select new.*, case when ${keepMs}::int is not null and not exists (
          select from queue q where q.store_id = new.store_id and q.entity = new.entity and q.id < new.id
        ) then ${keepMs}::int end as keep_ms
        from new) as claimed
      returning id, attempts)
    select string_agg(id::text, ',') as stored, string_agg(id::text, ',') filter (where attempts = 1) as claimed
    from queued`;
};

/** Inserts events that will not be processed, each with its result. */
const insertEnded = (sql: ISql, events: readonly ReceivedEvent[]) => sql<Inserted[]>`
  ${newEvents(sql, events)},
  ended as (
    insert into results (store_id, id, state, attempts, error, finished_at)
    select new.store_id, new.id, input.state, 0, input.error, now()
    from new join unnest(${plainArrayOf(events.map(({ id }) => id))}::uuid[],
      ${plainArrayOf(events.map(({ state }) => state))}::text[], ${arrayOf(events.map(({ error }) => error))}::text[])
      as input (id, state, error) on input.id = new.id
    returning id)
  select string_agg(id::text, ',') as stored, null as claimed from ended`;

/** Inserts the events that are not stored yet, with one statement per group. Nearly always there is only one group. */
const insert = async (
  sql: ISql,
  events: readonly ReceivedEvent[],
  claimer?: Claimer,
  isFull?: (storeId: string) => boolean,
): Promise<Map<string, StoreResult>> => {
  const entities = new Set<string>();
  const groups = Map.groupBy(events, ({ storeId, entity, state, holdMs }) => {
    if (state !== 'pending') return 'ended';
    if (holdMs > 0) return holdMs;
    if (claimer === undefined) return 'now';
    if (isFull?.(storeId)) return 'later';
    // Only the first event of each entity is claimed at once.
    if (entity === null) return 'now';
    const key = storeId + entity;
    return entities.has(key) ? 'later' : (entities.add(key), 'now');
  });
  const stored = new Map<string, StoreResult>();
  for (const [groupKey, group] of groups) {
    const rows = await (groupKey === 'ended'
      ? insertEnded(sql, group)
      : insertPending(
          sql,
          group,
          typeof groupKey === 'number' ? groupKey : 0,
          groupKey === 'now' ? claimer : undefined,
        ));
    for (const id of rows[0]?.stored?.split(',') ?? []) stored.set(id, 'stored');
    for (const id of rows[0]?.claimed?.split(',') ?? []) stored.set(id, 'claimed');
  }
  return stored;
};

interface Earlier {
  /** The same event is already stored, which happens when the spool is replayed. */
  isStored: boolean;
  /** Id of the latest event with the same subject that was received before it. */
  previous: string | null;
  hasSameBody: boolean | null;
}

/** Whether the content of an event decides if it is a duplicate of the event before it. */
const mayRepeat = ({ byContent, entity }: ReceivedEvent): boolean => byContent && entity !== null;

/**
 * Finds, for each event in order, the earlier event that it may repeat. The condition on the subject is the expression of the
 * index `events_subject`, so one row per event is read, however many events the entity has. That row may have a megabyte to hash,
 * so it is read only if the event may repeat one.
 */
const findEarlier = (sql: ISql, events: readonly ReceivedEvent[]) => {
  const keys = events.map(({ dedup }) => splitKey(dedup));
  return sql<Earlier[]>`
    select exists (select from events e where e.store_id = input.store_id and e.id = input.id) as "isStored",
      latest.id as previous, latest.same as "hasSameBody"
    from unnest(${plainArrayOf(events.map(({ storeId }) => storeId))}::uuid[],
      ${plainArrayOf(events.map(({ id }) => id))}::uuid[], ${plainArrayOf(keys.map(({ subject }) => subject))}::text[],
      ${plainArrayOf(keys.map(({ content }) => content))}::text[], ${plainArrayOf(events.map((event) => `${mayRepeat(event)}`))}::bool[])
      with ordinality as input (store_id, id, subject, content, may_repeat, place)
    left join lateral (
      select e.id, starts_with(encode(coalesce(e.body_hash, sha256(e.body)), 'hex'), input.content) as same from events e
      where input.may_repeat and e.store_id = input.store_id and substr(e.dedup, 1, 8) = decode(input.subject, 'hex')
        and e.id < input.id
      order by e.id desc limit 1) as latest on true
    order by place`;
};

/** Makes events due that an earlier attempt to store them may have claimed without this instance learning of it. */
const makeDue = (sql: ISql, events: readonly ReceivedEvent[]) => sql`
  update queue q set worker = null, due_at = now()
  from unnest(${plainArrayOf(events.map(({ storeId }) => storeId))}::uuid[],
    ${arrayOf(events.map(({ entity, id }) => entity ?? id))}::text[],
    ${plainArrayOf(events.map(({ id }) => id))}::uuid[]) as input (store_id, entity, id)
  where q.store_id = input.store_id and q.entity = input.entity and q.id = input.id and q.worker is not null`;

/**
 * Stores the repeats that are not duplicates. A repeated body is a duplicate unless another event with the same subject was
 * received in between, which may be one of `events`. Uses few statements, because the events of all stores wait for them.
 */
const storeRepeats = async (
  sql: ISql,
  events: readonly ReceivedEvent[],
): Promise<Map<string, StoreResult>> => {
  const earlier = await findEarlier(sql, events);
  const alreadyStored = events.filter((_, at) => earlier[at]?.isStored);
  if (alreadyStored.length > 0) await makeDue(sql, alreadyStored);
  /** By subject: the latest of these events that will be stored. */
  const latest = new Map<string, { id: string; content: string }>();
  const changes: ReceivedEvent[] = [];
  for (const [at, event] of events.entries()) {
    const earlierEvent = earlier[at];
    if (earlierEvent === undefined || earlierEvent.isStored || !mayRepeat(event)) continue;
    const { subject, content } = splitKey(event.dedup);
    const key = event.storeId + subject;
    const earlierInBatch = latest.get(key);
    const isBatchNewer =
      earlierInBatch !== undefined &&
      earlierInBatch.id < event.id &&
      earlierInBatch.id > (earlierEvent.previous ?? '');
    const previous = isBatchNewer ? earlierInBatch.id : earlierEvent.previous;
    if (previous === null || (isBatchNewer ? earlierInBatch.content === content : earlierEvent.hasSameBody))
      continue;
    changes.push({ ...event, dedup: repeatKey(event.dedup, previous) });
    latest.set(key, { id: event.id, content });
  }
  return changes.length === 0 ? new Map<string, StoreResult>() : insert(sql, changes);
};

/**
 * Commits events to the inbox together, nearly always in one round trip. Returns the result of each event, in order.
 * All are durable once this resolves. Storing an event again changes nothing. With a claimer, as many events as possible are
 * claimed for it at the same time, except those of stores for which `isFull` returns true.
 */
export const storeEvents = async (
  sql: ISql,
  events: readonly ReceivedEvent[],
  claimer?: Claimer,
  isFull?: (storeId: string) => boolean,
): Promise<StoreResult[]> => {
  const stored = await insert(sql, events, claimer, isFull);
  const repeats = events.filter(({ id }) => !stored.has(id));
  const changes = repeats.length === 0 ? stored : await storeRepeats(sql, repeats);
  return events.map(({ id }) => stored.get(id) ?? changes.get(id) ?? 'duplicate');
};
