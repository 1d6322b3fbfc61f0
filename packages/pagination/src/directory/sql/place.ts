import type { Directory } from '../declare.ts';
import { highest, lowest, namesOf, settings, type Narrowing } from './names.ts';

/**
 * A function that gives the key of the row which has `skip` rows before it, null if there is none, and how many rows
 * there are if `totalled`; without that the total means nothing.
 *
 * It walks the list as it is shown, in longer strides first: shelf by shelf, bucket by bucket, then along the index
 * from whichever end of the bucket is nearer. Any key would do once its rank is exact; the nearest has the fewest
 * rows between itself and the page. The rank of a key is the number of rows that are shown before it: the older ones,
 * or those that are not older where the newest come first.
 *
 * While it walks, changes that are not folded in yet are taken to be of the newest rows; then they are looked up for
 * the one rank that counts. Expressions are few and several values are set at once, since PL/pgSQL prepares each
 * expression again in every transaction, and many small ones cost more than the reading.
 */
export const placeOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  const { at, id, newestFirst } = directory;
  const item = `item.${at}, item.${id}`;
  const rising = { order: item, keys: 'low_at, low_id' };
  const falling = { order: `item.${at} desc, item.${id} desc`, keys: 'low_at desc, low_id desc' };
  const [shown, back] = newestFirst ? [falling, rising] : [rising, falling];
  const [before, after] = newestFirst ? ['>=', '<'] : ['<', '>='];
  const [start, end] = newestFirst ? [highest, lowest] : [lowest, highest];
  const ours = `filter = '${filter}' and value = ${textOf('wanted')}`;
  const changesOf = `${changes} change where xid >= (select folded_to from ${state}) and ${holds('change', 'wanted')}`;
  const itemsOf = `${list} item where ${holds('item', 'wanted')}`;
  const near = '(near_at, near_id)';
  // The key of a bucket is that of its oldest row: where the newest come first, the bucket comes before its key.
  const inTurn = (count: string, look: string) =>
    (newestFirst ? [count, look] : [look, count]).join('\n    ');
  return `create function ${routine(`place_${filter}`)}(wanted ${type}, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable ${settings} as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, ${newestFirst ? 'sum, sum, sum' : '0::bigint, 0::bigint, 0::bigint'}, ${start}, ${end}
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from ${changesOf}) change;
  for key in select low_at, low_id, n from ${shelves} where ${ours} order by ${shown.keys} loop
    ${inTurn(
      'total := total + key.n;',
      `if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;`,
    )}
  end loop;
  for key in select low_at, low_id, n from ${buckets}
    where ${ours} and (low_at, low_id) ${after} ${near} order by ${shown.keys}
  loop
    ${inTurn(
      'past := past + key.n;',
      `if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;`,
    )}
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank${newestFirst ? ' - pending' : ''} + coalesce((select sum(sign) from ${changesOf}
      and (change.at, change.id) ${before} ${near}), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank ${newestFirst ? '<=' : '<'} skip then
    select ${item} into near_at, near_id from ${itemsOf} and (${item}) ${after} ${near}
    order by ${shown.order} offset skip - rank limit 1;
  elsif rank > skip then
    select ${item} into near_at, near_id from ${itemsOf} and (${item}) ${before} ${near}
    order by ${back.order} offset rank - skip - 1 limit 1;
  end if;${newestFirst ? '' : '\n  total := total + pending;'}
end $$;`;
};
