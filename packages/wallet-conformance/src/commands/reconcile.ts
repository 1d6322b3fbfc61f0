import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { UsageError } from '@platform/program';
import { complain, say } from '@platform/program/terminal';
import { walletHere } from '../env.ts';
import type { Command } from './target.ts';
import {
  createApi,
  maxRepairs,
  type Api,
  type Difference,
  type DifferenceList,
  type DryRun,
  type Reconciliation,
  type RepairResult,
} from './reconcile-api.ts';

const usage = `reconcile <statement> --from <time> --to <time>: sends a statement (CSV, or JSON lines when the name ends in
                         .jsonl) to a wallet-operator, waits until it is compared, and prints the differences
  --token <token>        access token with wallet:admin; --approve needs wallet:approve
  --url <url>            of the gateway (the variable OPERATOR_URL, else that of the stack that runs here)
  --columns, --delimiter, --tolerance  as in the API, such as --columns playerId:Player,time:Booked at
  --out <file>           saves the differences as CSV
  --dry-run              says what repairs would do, and prints the path of the dry run
reconcile <path of a dry run>: prints the dry run again
  --approve              approves it
  --apply                applies it (--max-amount 100.00: at most so much)
`;

const options = {
  url: { type: 'string' },
  token: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  columns: { type: 'string' },
  delimiter: { type: 'string' },
  tolerance: { type: 'string' },
  out: { type: 'string' },
  'dry-run': { type: 'boolean' },
  approve: { type: 'boolean' },
  apply: { type: 'boolean' },
  'max-amount': { type: 'string' },
} as const;

const statementOptions = ['from', 'to', 'columns', 'delimiter', 'tolerance', 'out', 'dry-run'];

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

const send = async (api: Api, file: string, values: Values): Promise<string> => {
  const { from, to, columns, delimiter, tolerance } = values;
  const parameters = Object.entries({ from, to, columns, delimiter, tolerance }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const { reconciliationId } = await api.askJson<Reconciliation>(
    `/v1/reconciliations?${new URLSearchParams(parameters).toString()}`,
    {
      method: 'POST',
      headers: { 'Content-Type': file.endsWith('.jsonl') ? 'application/x-ndjson' : 'text/csv' },
      body: Readable.toWeb(createReadStream(file)),
      duplex: 'half',
    },
  );
  return `/v1/reconciliations/${reconciliationId}`;
};

const waitFor = async (api: Api, path: string): Promise<Reconciliation> => {
  for (;;) {
    const reconciliation = await api.askJson<Reconciliation>(path);
    if (reconciliation.status === 'failed')
      throw new Error(`the reconciliation failed: ${reconciliation.failure}`);
    if (reconciliation.status === 'done') return reconciliation;
    await sleep(500);
  }
};

const listDifferences = (api: Api, path: string, query: string): Promise<DifferenceList> =>
  api.askJson(`${path}/differences?${query}`);

/** All differences that can be repaired on our side, in the order of their times. */
const repairable = async (api: Api, path: string): Promise<Difference[]> => {
  const found: Difference[] = [];
  for (let page = 1; ; page++) {
    const list = await listDifferences(api, path, `limit=200&page=${page}`);
    found.push(...list.differences.filter(({ repair }) => repair !== 'ask_game_server'));
    if (!list.page.has_more)
      return found.toSorted(
        (a, b) => Date.parse(a.there?.time ?? '1970-01-01') - Date.parse(b.there?.time ?? '1970-01-01'),
      );
  }
};

const sideText = (side: Difference['here']): string =>
  side === null ? 'nothing' : [side.operation, side.amount, side.currency].filter(Boolean).join(' ');

/** How many differences are printed; a file has all of them. */
const mostShown = 10;

const showDifferences = async (api: Api, path: string): Promise<void> => {
  const { differences, page } = await listDifferences(api, path, `limit=${mostShown}`);
  for (const { number, kind, transactionId, playerId, there, here } of differences) {
    const sides = `statement ${sideText(there)}, ledger ${sideText(here)}`;
    say(`${number}: ${kind}, transaction ${transactionId} of player ${playerId}: ${sides}`);
  }
  if (page.has_more) say('… --out FILE saves all differences');
};

/** Prints results; returns how many of the differences are left. */
const showRepairs = (repairs: readonly RepairResult[]): number => {
  for (const { number, repair, state, status, reason } of repairs)
    say(`${number}: ${repair}, ${state}, ${status ?? '-'} ${reason ?? ''}`.trim());
  return repairs.filter(({ state }) => state !== 'applied').length;
};

const showDryRun = (path: string, run: DryRun): void => {
  showRepairs(run.repairs);
  for (const { kind, currency, repairs, amount } of run.sums)
    say(`${kind}: repairs ${repairs}, amount ${amount} ${currency}`);
  if (run.approvedBy !== null) say(`approved by ${run.approvedBy}`);
  say(`dry run: ${path}/dry-runs/${run.dryRunId}`);
};

/**
 * Makes a dry run of the first repairs that are possible. Those that the ledger would refuse give way to the next ones
 * while they are more than half of it.
 */
const tryRepairs = async (api: Api, path: string, differences: number): Promise<void> => {
  const all = await repairable(api, path);
  if (all.length < differences) say(`only the game server can correct: ${differences - all.length}`);
  const left = all.map(({ number }) => number);
  let numbers = left.splice(0, maxRepairs);
  let leftOut = 0;
  while (numbers.length > 0) {
    const run = await api.post<DryRun>(`${path}/dry-runs`, { differences: numbers });
    const possible = run.repairs.filter(({ status, state }) => status === 'OK' && state !== 'applied');
    if (left.length === 0 || possible.length > maxRepairs / 2) {
      showDryRun(path, run);
      break;
    }
    leftOut += numbers.length - possible.length;
    numbers = possible.map(({ number }) => number);
    numbers.push(...left.splice(0, maxRepairs - numbers.length));
  }
  if (leftOut > 0) say(`left out, because they would be refused or wait: ${leftOut}`);
  if (left.length > 0) say(`not tried yet: ${left.length}; make another dry run when this one is applied`);
};

const compare = async (api: Api, file: string, values: Values): Promise<number> => {
  const path = await send(api, file, values);
  const { lines, fields, differences, kinds } = await waitFor(api, path);
  say(`${path}\nlines: ${lines}\ndifferences: ${differences}`);
  const unstated = fields.filter((one) => one.lines === 0).map(({ field }) => field);
  if (unstated.length > 0) say(`not compared, because no line states it: ${unstated.join(', ')}`);
  for (const { kind, differences: count } of kinds) say(`${kind}: ${count}`);
  if (values.out === undefined) await showDifferences(api, path);
  else await writeFile(values.out, await (await api.ask(`${path}/differences.csv`)).text());
  if (values['dry-run']) {
    await tryRepairs(api, path, differences);
    return 0;
  }
  return differences === 0 ? 0 : 1;
};

/** Prints, approves or applies a dry run. */
const decide = async (api: Api, dryRun: string, values: Values): Promise<number> => {
  const [reconciliation = '', dryRunId = ''] = dryRun.split('/dry-runs/');
  if (values.apply) {
    const body = { dryRunId, maxAmount: values['max-amount'] };
    const { repairs } = await api.post<{ repairs: RepairResult[] }>(`${reconciliation}/repairs`, body);
    return showRepairs(repairs) === 0 ? 0 : 1;
  }
  const path = values.approve ? `${dryRun}/approval` : dryRun;
  showDryRun(reconciliation, await api.askJson(path, { method: values.approve ? 'POST' : 'GET' }));
  return 0;
};

/** Exit code 1 when differences are left, or the service refuses a request. */
const run = async (args: string[]): Promise<number> => {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const { url = walletHere().url, token, from, to, apply } = values;
  const [file] = positionals;
  const isDryRun = /^\/v1\/reconciliations\/[^/]+\/dry-runs\/[^/]+$/.test(file ?? '');
  const usable = ['url', 'token'].concat(
    isDryRun ? (apply ? ['apply', 'max-amount'] : ['approve']) : statementOptions,
  );
  if (file === undefined || token === undefined)
    throw new UsageError('a file or dry run, and --token are needed');
  if (!isDryRun && (from === undefined || to === undefined))
    throw new UsageError('--from and --to are needed');
  const ignored = Object.keys(values).find((option) => !usable.includes(option));
  if (ignored !== undefined) throw new UsageError(`--${ignored} would be ignored here`);
  return (isDryRun ? decide : compare)(createApi(url, token), file, values).catch((error: unknown) => {
    const cause = error instanceof TypeError ? error.cause : error;
    complain(cause instanceof Error ? cause.message : String(error));
    return 1;
  });
};

export const reconcileCommand: Command = { usage, run };
