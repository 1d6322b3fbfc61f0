/** The examples of README.md, so that the compiler reads them; readme.test.ts holds the two together. */
import { must } from '../src/answer.ts';
import { apiKey, bearer, cookieSession, gameServer } from '../src/credentials.ts';
import { byIndex, byPage, bySkip } from '../src/pages.ts';
import { consignments, questService, taskManager, verifyProjects, walletOperator } from '../src/services.ts';

export const aTask = async () => {
  const tasks = taskManager('http://127.0.0.1:8080', cookieSession());
  await must(
    tasks.POST('/auth/register', { body: { email: 'ada@example.test', password: 'correct horse battery' } }),
  );
  const task = await must(tasks.POST('/tasks', { body: { title: 'Water the plants', tags: ['home'] } }));
  await must(tasks.PATCH('/tasks/{id}', { params: { path: { id: task.id } }, body: { status: 'done' } }));
  const { data, error, response } = await tasks.GET('/tasks/{id}', { params: { path: { id: task.id } } });
  if (response.status === 404) throw new Error('somebody was quicker', { cause: error });
  return data?.title;
};

export const aBalance = async (url: string, secret: string) => {
  const wallet = walletOperator(url, gameServer(secret));
  const { balance } = await must(
    wallet.POST('/callback/balance', { body: { requestId: 'r-1', playerId: 'demo-1' } }),
  );
  return balance;
};

export const lists = async (url: string, questId: string, key: string, token: string) => {
  const titles: (string | undefined)[] = [];
  const names: string[] = [];
  const numbers: string[] = [];
  const quests = questService(url);
  for await (const question of bySkip((query) =>
    quests.GET('/quests/{questId}/questions', { params: { path: { questId }, query } }),
  ))
    titles.push(question.titles[0]?.title);
  const projects = verifyProjects(url, apiKey(key));
  for await (const project of byPage('projects', (query) =>
    projects.GET('/projects', { params: { query: { ...query, status: 'active' } } }),
  ))
    names.push(project.name);
  const shipping = consignments(url, bearer(token));
  for await (const consignment of byIndex('consignments', (query) =>
    shipping.GET('/consignments', { params: { query: { ...query, SearchText: 'bremen' } } }),
  ))
    numbers.push(consignment.consignmentNumber);
  return [titles, names, numbers];
};
