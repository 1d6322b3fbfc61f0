import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Figure } from '../figure.ts';
import { load, type LoadRequest } from '../load.ts';
import { isAccepted, probeDuring, slowest, type Sample } from './probe.ts';
import { onOwnCores, whileLocked } from './system.ts';
import { targets } from './targets.ts';

const locked = 'player-0';

const isOf = ({ body = '' }: LoadRequest, player: string): boolean => body.includes(`"${player}"`);

/** What debits of other players notice while a transaction holds the row of one player, whose debits go on coming. */
export const neighbours = async (): Promise<Figure[]> => {
  const { service, makeRequests } = await onOwnCores(targets['wallet-operator']);
  await using started = service;
  const { url, sql } = started;
  // No debit is sent twice.
  const measure = async () => {
    const plan = { url, requests: makeRequests(10_000), connections: 64, seconds: 10, perSecond: 300 };
    const probes = makeRequests(10_000).filter((request) => !isOf(request, locked));
    return (await probeDuring(url, probes, () => load(plan))).samples;
  };
  await measure();
  const normal = slowest(await measure());
  let samples: Sample[] = [];
  await whileLocked(sql, `select from players where player_id = '${locked}' for update`, async () => {
    await sleep(500);
    samples = await measure();
  });
  const beside = slowest(samples);
  const failed = samples.filter((sample) => !isAccepted(sample)).length;
  return [
    {
      what: 'wallet-operator: p99 of debits of other players while the row of one is locked, against without',
      bound: atMost(2, '×'),
      samples: [failed > 0 ? Number.POSITIVE_INFINITY : beside / normal],
      note: `${beside.toFixed(1)} ms, ${normal.toFixed(1)} ms without; ${failed} of ${samples.length} failed`,
    },
  ];
};
