import { demoSubscription } from '@platform/outgoing-webhooks/demo';
import { demoEnv } from '@platform/service-kit/env';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { hiking } from './demo/hiking.ts';
import { processEnv } from './env.ts';
import { parseQuestionList } from './questions/list-input.ts';
import { serialiseList } from './questions/serialised.ts';
import { replaceQuestions } from './questions/use-cases.ts';
import { findQuest, insertQuest } from './quests/queries.ts';

/** These ids are the same on every machine and after every start. */
const questId = '0198c5a0-7e57-7000-8000-000000000001';
const draftId = '0198c5a0-7e57-7000-8000-000000000002';
const correctedId = '0198c5a0-7e57-7000-8000-000000000003';

const { GATEWAY_URL, DEMO_ADMIN_TOKEN } = demoEnv();
// No instance has cached a version of a new quest, so nothing has to be removed from Redis.
const env = { ...processEnv(), REDIS_URL: undefined };
const log = createLog('quest-service-demo', 'silent');
await using context = createContext(env, { log, metrics: createMetrics() });

const titles = [
  { languageCode: 'en-US', title: 'Hiking around here' },
  { languageCode: 'de-DE', title: 'Wandern in der Gegend' },
  { languageCode: 'sv-SE', title: 'Vandra här omkring' },
];
const title = 'Hiking around here';
// A quest that was changed since the last start stays as it is.
const { sql } = context.database;
await demoSubscription(sql, DEMO_ADMIN_TOKEN, 'quests');
const quest =
  (await findQuest(sql, questId, false)) ?? (await insertQuest(sql, { title, titles }, questId)).json;
if ((JSON.parse(quest) as { questionCount: number }).questionCount < 25) {
  const questions = serialiseList(await parseQuestionList(Buffer.from(JSON.stringify(hiking))));
  await replaceQuestions(context, { questId, caller: 'demo', expected: undefined }, questions);
}

// A draft that cannot be published yet: the second question has no Swedish text, and no answers.
if ((await findQuest(sql, draftId, false)) === undefined) {
  await insertQuest(sql, { title: 'Hiking in winter', titles, published: false }, draftId);
  const [first, second] = hiking;
  const unfinished = { ...second, titles: second?.titles.slice(0, 2), alternatives: [] };
  const questions = serialiseList(await parseQuestionList(Buffer.from(JSON.stringify([first, unfinished]))));
  await replaceQuestions(context, { questId: draftId, caller: 'demo', expected: undefined }, questions);
}

// A published quest whose text is being corrected: readers see its questions as they were.
if ((await findQuest(sql, correctedId, false)) === undefined) {
  await insertQuest(sql, { title: 'Hiking with children', titles }, correctedId);
  for (const draft of [false, true]) {
    const corrected = hiking.slice(0, draft ? 4 : 3);
    const questions = serialiseList(await parseQuestionList(Buffer.from(JSON.stringify(corrected))));
    await replaceQuestions(
      context,
      { questId: correctedId, caller: 'demo', draft, expected: undefined },
      questions,
    );
  }
}

const authorization = `-H 'Authorization: Bearer ${DEMO_ADMIN_TOKEN}'`;
const list = `${GATEWAY_URL}/v1/quests/${questId}/questions`;
const output = {
  demo: { questId },
  curls: [
    { title: 'Two questions of a quest', command: `curl -s '${list}?Skip=0&Take=2'` },
    {
      title: 'Create a quest',
      command:
        `curl -s -X POST '${GATEWAY_URL}/v1/quests' ${authorization} ` +
        `-H 'Content-Type: application/json' -d '{"title":"My first quest"}'`,
    },
    {
      title: 'Publish an unfinished draft (409 with its errors)',
      command: `curl -s -X POST '${GATEWAY_URL}/v1/quests/${draftId}/publish' ${authorization}`,
    },
    {
      title: 'Publish the draft of a published quest',
      command: `curl -s -X POST '${GATEWAY_URL}/v1/quests/${correctedId}/publish' ${authorization}`,
    },
    {
      title: 'Export a quest as a file',
      command: `curl -s '${GATEWAY_URL}/v1/quests/${questId}/export' ${authorization}`,
    },
  ],
};
process.stdout.write(`${JSON.stringify(output)}\n`);
