import type { Directory } from '../declare.ts';
import { namesOf, narrowings, settings, type Narrowing } from './names.ts';

/** What has changed in a list so far, as one number: two equal ones mean the same rows. */
const stampOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { shelves, changes, state, routine } = namesOf(directory);
  return `create function ${routine(`stamp_${filter}`)}(wanted ${type}) returns bigint
language plpgsql stable parallel safe ${settings} as $$
begin
  return (select bit_xor(mark) from (
    select mark from ${shelves} where filter = '${filter}' and value = ${textOf('wanted')}
    union all
    select mark from ${changes} change
    where xid >= (select folded_to from ${state}) and ${holds('change', 'wanted')}) marks);
end $$;`;
};

/** Statements for stamps to keep counts under, one of each filter. */
export const stamp = (directory: Directory): string[] =>
  narrowings(directory).map((narrowing) => stampOf(directory, narrowing));
