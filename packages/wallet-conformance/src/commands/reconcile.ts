import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '@platform/program';
import { complain, say } from '@platform/program/terminal';
import { defineCommand, type Values } from './command.ts';
import { walletOptions } from './target.ts';
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
  --url <url>            address of the gateway (default: the variable OPERATOR_URL, else the local stack)
  --columns, --delimiter, --tolerance  as in the API, such as --columns playerId:Player,time:Booked at
  --out <file>           saves the differences as CSV
  --dry-run              creates a dry run of the repairs, and prints its results and its path
reconcile <path of a dry run>: prints the dry run again
  --approve              approves it
  --apply                applies it (--max-amount 100.00 limits what repairs move of a currency in 24 hours)
`;

const options = {
  url: walletOptions.url,
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

type ReconcileValues = Values<typeof options>;

const uploadStatement = async (api: Api, file: string, values: ReconcileValues): Promise<string> => {
  const { from, to, columns, delimiter, tolerance } = values;
  const parameters = Object.entries({ from, to, columns, delimiter, tolerance }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const { reconciliationId } = await api.requestJson<Reconciliation>(
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

const waitUntilCompared = async (api: Api, path: string): Promise<Reconciliation> => {
  for (;;) {
    const reconciliation = await api.requestJson<Reconciliation>(path);
    if (reconciliation.status === 'failed')
      throw new Error(`the reconciliation failed: ${reconciliation.failure}`);
    if (reconciliation.status === 'done') return reconciliation;
    await sleep(500);
  }
};

const listDifferences = (api: Api, path: string, query: string): Promise<DifferenceList> =>
  api.requestJson(`${path}/differences?${query}`);

/** All differences that can be repaired in our ledger, ordered by time. */
const listRepairable = async (api: Api, path: string): Promise<Difference[]> => {
  const repairable: Difference[] = [];
  for (let page = 1; ; page++) {
    const list = await listDifferences(api, path, `limit=200&page=${page}`);
    repairable.push(...list.differences.filter(({ repair }) => repair !== 'ask_game_server'));
    if (!list.page.has_more)
      return repairable.toSorted(
        (a, b) => Date.parse(a.there?.time ?? '1970-01-01') - Date.parse(b.there?.time ?? '1970-01-01'),
      );
  }
};

const sideText = (side: Difference['here']): string =>
  side === null ? 'nothing' : [side.operation, side.amount, side.currency].filter(Boolean).join(' ');

/** Number of differences that are printed; `--out` writes all of them. */
const maxPrinted = 10;

const printDifferences = async (api: Api, path: string): Promise<void> => {
  const { differences, page } = await listDifferences(api, path, `limit=${maxPrinted}`);
  for (const { number, kind, transactionId, playerId, there, here } of differences) {
    const sides = `statement ${sideText(there)}, ledger ${sideText(here)}`;
    say(`${number}: ${kind}, transaction ${transactionId} of player ${playerId}: ${sides}`);
  }
  if (page.has_more) say('… --out FILE saves all differences');
};

/** Prints the results of repairs; returns how many were not applied. */
const printRepairs = (repairs: readonly RepairResult[]): number => {
  for (const { number, repair, state, status, reason } of repairs)
    say(`${number}: ${repair}, ${state}, ${status ?? '-'} ${reason ?? ''}`.trim());
  return repairs.filter(({ state }) => state !== 'applied').length;
};

const printDryRun = (path: string, dryRun: DryRun): void => {
  printRepairs(dryRun.repairs);
  for (const { kind, currency, repairs, amount } of dryRun.sums)
    say(`${kind}: repairs ${repairs}, amount ${amount} ${currency}`);
  if (dryRun.approvedBy !== null) say(`approved by ${dryRun.approvedBy}`);
  say(`dry run: ${path}/dry-runs/${dryRun.dryRunId}`);
};

/**
 * Creates a dry run of the first repairs that are possible. While at least half of a dry run would be refused, creates
 * another one in which the next repairs replace the refused ones.
 */
const createDryRun = async (api: Api, path: string, differences: number): Promise<void> => {
  const repairable = await listRepairable(api, path);
  if (repairable.length < differences)
    say(`only the game server can correct: ${differences - repairable.length}`);
  const remaining = repairable.map(({ number }) => number);
  let numbers = remaining.splice(0, maxRepairs);
  let skipped = 0;
  while (numbers.length > 0) {
    const dryRun = await api.post<DryRun>(`${path}/dry-runs`, { differences: numbers });
    const possible = dryRun.repairs.filter(({ status, state }) => status === 'OK' && state !== 'applied');
    if (remaining.length === 0 || possible.length > maxRepairs / 2) {
      printDryRun(path, dryRun);
      break;
    }
    skipped += numbers.length - possible.length;
    numbers = possible.map(({ number }) => number);
    numbers.push(...remaining.splice(0, maxRepairs - numbers.length));
  }
  if (skipped > 0) say(`skipped, because they would be refused or must wait: ${skipped}`);
  if (remaining.length > 0)
    say(`not tried yet: ${remaining.length}; create another dry run after applying this one`);
};

const compare = async (api: Api, file: string, values: ReconcileValues): Promise<number> => {
  const path = await uploadStatement(api, file, values);
  const { lines, fields, differences, kinds } = await waitUntilCompared(api, path);
  say(`${path}\nlines: ${lines}\ndifferences: ${differences}`);
  const absentFields = fields.filter((field) => field.lines === 0).map(({ field }) => field);
  if (absentFields.length > 0) say(`not compared, because no line has the field: ${absentFields.join(', ')}`);
  for (const { kind, differences: count } of kinds) say(`${kind}: ${count}`);
  if (values.out === undefined) await printDifferences(api, path);
  else await writeFile(values.out, await (await api.request(`${path}/differences.csv`)).text());
  if (values['dry-run']) {
    await createDryRun(api, path, differences);
    return 0;
  }
  return differences === 0 ? 0 : 1;
};

/** Prints, approves or applies the dry run at `dryRunPath`. */
const processDryRun = async (api: Api, dryRunPath: string, values: ReconcileValues): Promise<number> => {
  const [reconciliation = '', dryRunId = ''] = dryRunPath.split('/dry-runs/');
  if (values.apply) {
    const body = { dryRunId, maxAmount: values['max-amount'] };
    const { repairs } = await api.post<{ repairs: RepairResult[] }>(`${reconciliation}/repairs`, body);
    return printRepairs(repairs) === 0 ? 0 : 1;
  }
  const path = values.approve ? `${dryRunPath}/approval` : dryRunPath;
  printDryRun(reconciliation, await api.requestJson(path, { method: values.approve ? 'POST' : 'GET' }));
  return 0;
};

/** Resolves with exit code 1 when differences remain, or the service refuses a request. */
export const reconcileCommand = defineCommand({
  usage,
  options,
  run: async (values, [file]) => {
    const { url, token, from, to, apply } = values;
    const isDryRun = /^\/v1\/reconciliations\/[^/]+\/dry-runs\/[^/]+$/.test(file ?? '');
    const dryRunOptions = apply ? ['apply', 'max-amount'] : ['approve'];
    const allowed = ['url', 'token', ...(isDryRun ? dryRunOptions : statementOptions)];
    if (file === undefined || token === undefined)
      throw new UsageError('a statement file or the path of a dry run, and --token are required');
    if (!isDryRun && (from === undefined || to === undefined))
      throw new UsageError('--from and --to are required');
    const disallowed = Object.keys(values).find((option) => !allowed.includes(option));
    if (disallowed !== undefined) throw new UsageError(`--${disallowed} cannot be used here`);
    const execute = isDryRun ? processDryRun : compare;
    return execute(createApi(url, token), file, values).catch((error: unknown) => {
      const cause = error instanceof TypeError ? error.cause : error;
      complain(cause instanceof Error ? cause.message : String(error));
      return 1;
    });
  },
});
