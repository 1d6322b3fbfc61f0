import type { Call } from './call.ts';
import type { Violation } from './judge.ts';
import { escaped } from '../xml.ts';

const width = 900;
const left = 260;
const row = 26;

const label = ({ operation, transaction = '', reverses }: Call): string =>
  `${operation} ${transaction}${reverses === undefined ? '' : ` of ${reverses}`}`.trim();

const answer = ({ status, balance }: Call): string =>
  status === null ? 'no answer' : `${status}${balance === null ? '' : ` ${(balance / 100).toFixed(2)}`}`;

/**
 * A violation as an SVG document: a bar for each call from the time it was sent to its answer, one below the other, so
 * that overlapping calls stand above each other. Calls that contradict each other are red.
 */
export const picture = ({ player, history, calls, contradiction }: Violation): string => {
  const from = Math.min(...calls.map(({ sent }) => sent));
  const to = Math.max(...calls.map(({ sent, answered }) => answered ?? sent), from + 1);
  const x = (time: number): number => left + ((time - from) / (to - from)) * (width - left - 150);
  const height = (calls.length + 2) * row;
  const bars = calls.map((call, at) => {
    const y = (at + 1) * row + 6;
    const start = x(call.sent);
    const end = Math.max(start + 3, x(call.answered ?? to));
    const color = contradiction.includes(call) ? '#c62828' : '#90a4ae';
    const dashes = call.answered === null ? ' stroke-dasharray="4 3" fill-opacity="0.15"' : '';
    return [
      `<text x="8" y="${y + 12}">${escaped(label(call))}</text>`,
      `<rect x="${start.toFixed(1)}" y="${y}" width="${(end - start).toFixed(1)}" height="16" rx="3" fill="${color}" stroke="${color}"${dashes}/>`,
      `<text x="${(end + 6).toFixed(1)}" y="${y + 12}">${escaped(answer(call))}</text>`,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="8" y="18" font-weight="bold">${escaped(`Player ${player}, history ${history}`)}: ${((to - from) / 1000).toFixed(2)} ms from left to right</text>`,
    ...bars,
    '</svg>',
    '',
  ].join('\n');
};
