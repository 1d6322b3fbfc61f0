import { call, type Arranged, type Caller } from '@platform/openapi-tests/place';

const questions = [
  {
    questionId: 'known',
    type: 'OPEN_TEXT',
    presentation: 'VERTICAL',
    titles: [{ languageCode: 'en-US', title: 'Why?' }],
  },
];

/** Quests with a question and a draft: several, because other operations replace some of the lists. */
export const arrange = async (place: Caller): Promise<Arranged> => {
  const paths = [1, 2, 3, 4].map(async () => {
    const { body } = await call(place, 'POST', '/v1/quests', { title: 'With a draft' });
    const quest = `/v1/quests/${String(body['questId'])}`;
    await call(place, 'PUT', `${quest}/questions`, questions);
    await call(place, 'PUT', `${quest}/questions?draft=true`, questions);
    return [`${quest}/questions/known`, `${quest}/draft`];
  });
  return {
    credentials: { bearer: place.token },
    values: { orderNumber: [undefined], questionId: [undefined], alternativeId: [undefined] },
    paths: (await Promise.all(paths)).flat(),
  };
};
