import { keyOf, uncounted, unfiltered, type Directory, type Filter } from './directory.ts';

/** The last bucket of the value of `entry` that satisfies a condition on the row \`held\`. */
const lastBucket = ({ buckets, key }: Directory, filter: string, value: string, condition: string): string =>
  `left join lateral (
    select ${key.join(', ')} from ${buckets} held
    where held.filter = ${filter} and held.value = ${value}${condition}
    order by ${key.map((name) => `${name} desc`).join(', ')} limit 1) held on true`;

/**
 * Adds up the changes of one filter. Most belong to the last bucket of their value (\`at_end\`), which is looked up
 * once for each value; \`before\` are the others.
 */
const countedBy = (directory: Directory, { name, column, text }: Filter, place: number): string => {
  const newest = `newest_${place}`;
  const isAtEnd = `(${keyOf(directory, 'gone')}) >= (${keyOf(directory, newest)})`;
  return `${newest} as materialized (
  select entry.value, ${keyOf(directory, 'held')}
  from (select distinct ${column} as value from gone where ${column} is not null) entry
  ${lastBucket(directory, `'${name}'`, 'entry.value::text', '')}
), at_end_${place} as (
  select '${name}' as filter, ${newest}.value::text as value, ${keyOf(directory, newest)}, sum(sign) as n
  from gone join ${newest} on ${column} = ${newest}.value and ${isAtEnd} group by ${newest}.value, ${keyOf(directory, newest)}
), before_${place} as (
  select '${name}' as filter, ${text} as value, ${keyOf(directory, 'gone')}, sign
  from gone join ${newest} on ${column} = ${newest}.value where (${isAtEnd}) is not true
)`;
};

/**
 * The statement that moves all visible changes into the counts of their buckets, and keeps its own snapshot
 * as the state. One statement sees one snapshot: what it takes from the changes is what it adds to the counts.
 */
export const foldStatement = (directory: Directory): string => {
  const { buckets, changes, state, key, filters, bucket } = directory;
  const k = key.join(', ');
  const all = [unfiltered, ...filters];
  const union = (part: string) => all.map((_, place) => `select * from ${part}_${place}`).join(' union all ');
  const found = key.map(
    (name) => `coalesce(held.${name}, first_value(entry.${name}) over by_key) as ${name}`,
  );
  return `
with gone as materialized (
  delete from ${changes} where ctid = any (array(${uncounted(directory, 'ctid')})) returning *
), settled as (
  update ${state} set
    folded_below = greatest(folded_below, pg_snapshot_xmax(pg_current_snapshot())),
    running = array(
      select xid from (select pg_snapshot_xip(pg_current_snapshot()) union select pg_current_xact_id()) still (xid)
      where xid < greatest(folded_below, pg_snapshot_xmax(pg_current_snapshot())))
), ${all.map((filter, place) => countedBy(directory, filter, place)).join(', ')}, counted as (
  insert into ${buckets} as held
  select filter, value, ${k}, sum(n) from (
    ${union('at_end')}
    union all
    -- A change below all buckets begins a new one.
    select entry.filter, entry.value, ${found.join(', ')}, sign
    from (${union('before')}) entry
    ${lastBucket(directory, 'entry.filter', 'entry.value', ` and (${keyOf(directory, 'held')}) <= (${keyOf(directory, 'entry')})`)}
    window by_key as (partition by entry.filter, entry.value order by ${keyOf(directory, 'entry')})
  ) sums group by filter, value, ${k}
  on conflict (filter, value, ${k}) do update set n = held.n + excluded.n
  returning filter, n
)
select (select count(*)::int from gone) as folded,
  array(select distinct filter from counted where n > ${2 * bucket}) as overfull`;
};
