import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { inherited } from '../env.ts';
import { atMost } from '../bounds.ts';
import type { Figure } from '../figure.ts';

const program = new URL('../../../e2e/src/restarts-main.ts', import.meta.url).pathname;

/** Requests that fail while both instances of every service are replaced twice under load, behind the gateway. */
export const restarts = async (): Promise<Figure[]> => {
  const child = spawn(process.execPath, [program, '--connections', '8'], {
    env: inherited,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = await text(child.stdout);
  const rows = [...printed.matchAll(/(\d+) requests, (\d+) failed, (\d+) restarts/g)];
  const sum = (column: number): number => rows.reduce((total, row) => total + Number(row[column]), 0);
  if (rows.length === 0) throw new Error(`The restarts were not measured:\n${printed}`);
  return [
    {
      what: 'all services: failed requests while both instances of each restart twice in a row behind the gateway',
      bound: '0',
      samples: [sum(2)],
      unit: 'requests',
      holds: atMost(0),
      note: `${sum(1)} POST requests, ${sum(3)} restarts`,
    },
  ];
};
