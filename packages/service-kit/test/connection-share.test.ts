import type {} from '@platform/local/provided';
import { expect, inject, test } from 'vitest';
import { checkConnectionShare } from '../src/database/connection-share.ts';
import { connectionsOfProcess, openDatabase } from '../src/database/database.ts';
import { captureLog } from '../src/testing/index.ts';

const open = (name: string) => openDatabase({ url: inject('postgresUrl'), name, max: 7 });

test('a process counts the connections of all its pools, and one for probes', async () => {
  const before = connectionsOfProcess();
  {
    await using _one = open('counted');
    await using _other = open('counted-search');
    expect(connectionsOfProcess()).toBe(before + 14);
  }
  expect(connectionsOfProcess()).toBe(before);
});

test.each([
  ['one replica more than the connections are sized for, as in a rollout', 1, 8, []],
  ['two replicas more', 1, 9, [{ replicas: 3, connectionsEach: 9, share: 18 }]],
  ['a share that the server does not have', 200, 8, [{ share: 1608 }]],
  ['no size, and replicas that fit', undefined, 8, []],
  ['no size, and replicas that do not', undefined, 400, [{ connectionsEach: 400 }]],
])(
  '%s: a warning is logged only if the connections exceed the share',
  async (_name, sizedFor, connectionsEach, expected) => {
    const name = `shared-${connectionsEach}-${sizedFor ?? 'none'}`;
    const { log, lines } = captureLog();
    await using stack = new AsyncDisposableStack();
    const replicas = Array.from({ length: connectionsEach === 9 ? 3 : 2 }, () => stack.use(open(name)));
    for (const { probe } of replicas) await probe`select 1`;
    const [database] = replicas;
    if (database) await checkConnectionShare({ database, log, name, connectionsEach, sizedFor });
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(expected);
  },
);

test('a database that does not answer causes no warning', async () => {
  const { log, lines } = captureLog();
  await using database = openDatabase({ url: 'postgres://127.0.0.1:1/none', name: 'away' });
  await checkConnectionShare({ database, log, name: 'away', connectionsEach: 8, sizedFor: 1 });
  expect(lines).toEqual([]);
});
