import { setTimeout as sleep } from 'node:timers/promises';
import { atMost } from '../bounds.ts';
import type { Figure } from '../figure.ts';
import { load, type LoadRequest } from '../load.ts';
import { isAccepted, p99, probeDuring } from './probe.ts';
import { startSystem, whileLocked } from './system.ts';

const seconds = 10;
const locked = 'player-0';
const perSecond = 300;
const connections = 64;

const isOf = ({ body = '' }: LoadRequest, player: string): boolean => body.includes(`"${player}"`);

/** What debits of other players notice while a transaction holds the row of one player, whose debits go on coming. */
export const neighbours = async (): Promise<Figure[]> => {
  await using system = await startSystem('wallet-operator');
  const { service, sql, makeRequests } = system;
  // No debit is sent twice.
  const measure = () => {
    const load64 = { connections, seconds, perSecond, requests: makeRequests(10_000) };
    const probes = makeRequests(10_000).filter((request) => !isOf(request, locked));
    return probeDuring(service.url, probes, () => load({ url: service.url, ...load64 }));
  };
  await measure();
  const normal = await measure();
  let beside: typeof normal | undefined;
  await whileLocked(sql, `select from players where player_id = '${locked}' for update`, async () => {
    await sleep(500);
    beside = await measure();
  });
  const samples = beside?.samples ?? [];
  const failed = samples.filter((sample) => !isAccepted(sample)).length;
  return [
    {
      what: 'wallet-operator: p99 of debits of other players while the row of one is locked, against without',
      bound: '≤ 2 ×',
      samples: [failed > 0 ? Number.POSITIVE_INFINITY : p99(samples) / p99(normal.samples)],
      unit: '×',
      holds: atMost(2),
      note: `${p99(samples).toFixed(1)} ms, ${p99(normal.samples).toFixed(1)} ms without; ${failed} of ${samples.length} failed`,
    },
  ];
};
