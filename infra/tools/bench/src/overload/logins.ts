import { atMost, repeat, type Figure } from '../figure.ts';
import { load } from '../load.ts';
import { startTasks } from '../subjects/task-manager.ts';
import { isAccepted, probeDuring, slowest } from './probe.ts';
import { onOwnCores } from './system.ts';

/** What a reader of tasks notices of a hundred users who log in at once, and again as soon as they are logged in. */
export const logins = async (): Promise<Figure[]> => {
  const { service, list, logins: requests } = await onOwnCores(startTasks);
  await using started = service;
  const logIn = (seconds: number) => load({ url: started.url, requests, connections: 100, seconds });
  await probeDuring(started.url, [list(1)], () => logIn(5));
  const runs = await repeat(3, () => probeDuring(started.url, [list(1)], () => logIn(10)));
  return [
    {
      what: 'task-manager: p99 of a page of tasks during 100 logins at once',
      bound: atMost(40, 'ms'),
      samples: runs.map(({ samples }) => (samples.every(isAccepted) ? slowest(samples) : Infinity)),
      note: runs
        .map(({ result: { perSecond, failed } }) => `${perSecond.toFixed(0)} logins/s, ${failed} failed`)
        .join('; '),
    },
  ];
};
