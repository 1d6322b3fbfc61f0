/** Lists at scale: a deep page takes no longer than the first one, with exact totals where a list has them. */
import type { Topic } from '../figure.ts';
import { consignments } from '../lists/consignments.ts';
import { depthFigures } from '../lists/pages.ts';
import { startService } from '../service.ts';
import { fillQuest } from '../subjects/quest-service.ts';
import { startTasks } from '../subjects/task-manager.ts';
import { changedAt, fillProjects, storeKey } from '../subjects/verify-projects.ts';

const tasks = async () => {
  const { service, list } = await startTasks();
  await using started = service;
  const pages = [list(1), list(500)];
  return await depthFigures({ list: '10,000 tasks of one user', url: started.url, pages, ratio: 1.5, ms: 5 });
};

const questions = async () => {
  await using service = await startService('quest-service', { QUESTS_CACHE_BYTES: '0' });
  const path = await fillQuest(service, 10_000);
  const pages = [0, 9900].map((skip) => ({ path: `${path}?Skip=${skip}&Take=100` }));
  return await depthFigures({
    list: '10,000 questions, cache off',
    url: service.url,
    pages,
    ratio: 1.5,
    ms: 15,
  });
};

const million = 1_000_000;

const projects = async () => {
  await using service = await startService('verify-projects');
  await fillProjects(service.sql, million);
  const headers = { 'X-API-Key': await storeKey(service.sql) };
  const since = `modified_after=${changedAt(million / 2)}`;
  const lists: [name: string, query: string, size: number, ratio: number][] = [
    ['A million projects', '', million, 1.5],
    ['Projects of one status', 'status=archived', million * 0.3, 2],
    ['Projects with modified_after in the middle', since, million / 2, 2],
    ['Projects with both', `status=archived&${since}`, million * 0.15, 2],
  ];
  const figures = [];
  for (const [list, query, size, ratio] of lists) {
    const pages = [1, size / 50].map((page) => ({ path: `/v1/projects?${query}&page=${page}`, headers }));
    figures.push(...(await depthFigures({ list, url: service.url, pages, ratio, ms: 4 })));
  }
  return figures;
};

export const topic: Topic = {
  title: 'Lists at scale',
  parts: { tasks, questions, projects, consignments },
};
