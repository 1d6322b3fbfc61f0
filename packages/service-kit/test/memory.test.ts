import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, inject, test } from 'vitest';
import { openDatabase } from '../src/database/database.ts';
import { withDeadline } from '../src/overload/request-scope.ts';
import { Unavailable } from '../src/http/problem.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

/** Bytes of the old generation, where objects move that survive two collections of the young generation. */
const oldBytes = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space' || name === 'large_object_space')
    .reduce((sum, { space_used_size: used }) => sum + used, 0);

const late = () => new Unavailable('late', 'Too late.');
const parameterBytes = 50_000;
const statements = 200;

/** Runs statements with large parameters and collects the young generation in between. Returns the promoted bytes. */
const promotedBy = async (run: (parameter: string) => Promise<unknown>): Promise<number> => {
  let promoted = 0;
  let before = oldBytes();
  for (let count = 0; count < statements; count++) {
    await run(Buffer.alloc(parameterBytes, 'a').toString('latin1'));
    collect({ type: 'minor' });
    const now = oldBytes();
    promoted += Math.max(0, now - before);
    before = now;
  }
  return promoted;
};

test('the parameters of a finished statement are freed without a collection of the old generation', async () => {
  await using database = openDatabase({ url: inject('postgresUrl'), name: 'memory', max: 1 });
  const run = (parameter: string) =>
    database.sql`select length(${database.sql`${parameter}::text`})`.then((rows) => rows[0]);
  const inRequest = (parameter: string) => withDeadline(60_000, late, () => run(parameter));
  for (const runStatement of [run, inRequest]) {
    await promotedBy(runStatement);
    expect(await promotedBy(runStatement), runStatement.name).toBeLessThan((statements * parameterBytes) / 5);
  }
});
