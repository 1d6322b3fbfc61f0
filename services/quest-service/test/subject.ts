import { call, type ServiceSetup, type Access } from '@platform/openapi-tests/setup';

const questions = [
  {
    questionId: 'known',
    type: 'OPEN_TEXT',
    presentation: 'VERTICAL',
    titles: [{ languageCode: 'en-US', title: 'Why?' }],
  },
];

/** Quests with a question and a draft: several, because other operations replace some of the lists. */
export const setUp = async (server: Access): Promise<ServiceSetup> => {
  const paths = [1, 2, 3, 4].map(async () => {
    const { body } = await call(server, 'POST', '/v1/quests', { title: 'With a draft' });
    const quest = `/v1/quests/${String(body['questId'])}`;
    await call(server, 'PUT', `${quest}/questions`, questions);
    await call(server, 'PUT', `${quest}/questions?draft=true`, questions);
    return [`${quest}/questions/known`, `${quest}/draft`];
  });
  return {
    credentials: { bearer: server.token },
    values: { orderNumber: [undefined], questionId: [undefined], alternativeId: [undefined] },
    paths: (await Promise.all(paths)).flat(),
  };
};
