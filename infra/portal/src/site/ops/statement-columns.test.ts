import { expect, test } from 'vitest';
import { columnsOf, likelyColumn, mappingOf, timesOf } from './statement-columns.ts';

const csv = { type: 'text/csv', delimiter: ';' } as const;
const jsonl = { type: 'application/x-ndjson', delimiter: ',' } as const;

test.each([
  ['the header of CSV', '\uFEFFTx;"Booked; at";amount\r\n1;2;3', csv, ['Tx', 'Booked; at', 'amount']],
  ['the first line of JSON', '{"tx":"1","amount":"2"}\n{"more":1}', jsonl, ['tx', 'amount']],
  ['a line of JSON that is cut off', '{"tx":"1","amou', jsonl, []],
  ['a name that a mapping cannot contain', 'a;b,c', csv, ['a']],
  ['an empty file', '', csv, []],
])('the columns of a statement are found: %s', (_case, text, format, columns) => {
  expect(columnsOf(text, format)).toEqual(columns);
});

test.each([
  ['transactionId', 'Tx'],
  ['playerId', 'Player-ID'],
  ['gameCode', 'Game'],
  ['time', 'Booked at'],
  ['operation', 'type'],
  ['currency', ''],
])('the column of %s is found by a usual name: %s', (field, column) => {
  expect(likelyColumn(field, ['Tx', 'Player-ID', 'type', 'Game', 'Booked at'])).toBe(column);
});

test('a column is proposed for a field of the same name, and the mapping names the others', () => {
  const columns = ['PLAYERID', 'amount', 'Booked at'];
  const chosen = Object.fromEntries(
    ['playerId', 'amount', 'roundId'].map((field) => [field, likelyColumn(field, columns)]),
  );
  expect(chosen).toEqual({ playerId: 'PLAYERID', amount: 'amount', roundId: '' });
  expect(mappingOf({ ...chosen, time: 'Booked at' })).toBe('playerId:PLAYERID,time:Booked at');
});

const [early, late] = ['2026-11-21T00:00:01.500Z', '2026-11-21T10:00:00+01:00'];

test.each([
  ['CSV that is not sorted', `id;at\na;${late}\nb;"${early}"\nc;`, '', csv],
  ['the end of a large file of CSV', `id;at\na;${early}\nb;2026-`, `2026-11-30T00:00:00Z\nz;${late}\n`, csv],
  ['lines of JSON', `{"at":"${early}"}\n{"at":null}\nnull\n{"at":"${late}"}`, '', jsonl],
])('the first and the last time of a statement are found: %s', (_case, begin, end, format) => {
  expect(timesOf([begin, end], 'at', format)).toEqual({ first: Date.parse(early), last: Date.parse(late) });
});

test.each([
  ['a column that does not exist', `id;time\na;${early}`],
  ['times without a zone', 'id;at\na;2026-11-21T00:00:00\nb;2026-11-21\nc;21.11.2026'],
  ['an empty file', ''],
])('no time of a statement is guessed: %s', (_case, begin) => {
  expect(timesOf([begin, ''], 'at', csv)).toBeUndefined();
});
