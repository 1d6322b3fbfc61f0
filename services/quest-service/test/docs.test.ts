import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { get, makeQuest, startService, tokenWith } from './harness.ts';

const page = new URL('../../../docs/quest-service.md', import.meta.url);

/** Every answer that is no success ends the script, and says which. */
const strict =
  'set -o pipefail; curl() { command curl --fail-with-body "$@" || { echo "refused: $*" >&2; exit 1; }; }';

test('the commands of the documentation work as they are written', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const questId = await makeQuest(
    service,
    Array.from({ length: 30 }, (_, n) => `Question ${n}`),
  );
  const token = await tokenWith('quests:write');
  const text = await readFile(page, 'utf8');
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '');
  const [refusal] = blocks.filter((block) => block.includes('Take=1001'));
  const commands = blocks.filter((block) => block !== refusal).join('\n');
  const script = commands
    .replace(/^URL=.*$/m, `URL=${server.url}`)
    .replace(/^QUEST=.*$/m, `QUEST=${questId}`)
    .replace(/^TOKEN=.*$/m, `TOKEN=${token}`);
  expect(script).not.toMatch(/:8080|pnpm/);
  const { stdout } = await promisify(execFile)('bash', ['-ec', `${strict}\n${script}\necho; echo "$MINE"`]);
  expect(JSON.parse(stdout.slice(0, stdout.indexOf(']304') + 1))).toHaveLength(25);
  expect(stdout).toContain('304');
  for (const said of ['"Are you hungry?"', '"What would you like to eat?"', '"title":"Dinner"'])
    expect(stdout).toContain(said);
  const mine = stdout.trimEnd().split('\n').at(-1) ?? '';
  expect(mine).toMatch(/^[\da-f-]{36}$/);
  await get(service, `/quests/${mine}`).expect(404);

  const { body } = await get(service, `/quests/${questId}/questions?Take=1001`).expect(400);
  expect(refusal).toContain(`"errors":${JSON.stringify(body.errors)}`);
});
