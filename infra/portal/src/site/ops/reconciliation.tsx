import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { download } from '../element.ts';
import type { Wallet, WalletResponse } from './api.ts';
import {
  Action,
  ContentView,
  refreshAll,
  refreshCount,
  useContent,
  useLoaded,
  useRefresh,
} from './content.tsx';
import {
  csvOf,
  jsonLinesOf,
  failureText,
  isRunning,
  kindText,
  pathOf,
  sortRepairable,
  readRepairable,
  type KindCount,
  type Reconciliation,
} from './reconciliation-data.ts';
import { DifferenceDialog, differenceColumns, type Selection } from './differences.tsx';
import { Filters, filterValues, type Filter } from './filters.tsx';
import { List } from './list.tsx';
import { statusBadge, button, facts, time, type Columns } from './parts.tsx';
import { addressOf, place } from './place.ts';
import { UploadForm } from './reconciliation-upload.tsx';
import { RepairsPanel } from './repairs-panel.tsx';
import { useSession } from './session.ts';
import { counted, guideAddress } from './text.ts';
import { when } from './time.ts';

/** The state of a reconciliation as a badge. */
export const stateOf = (reconciliation: Reconciliation) =>
  statusBadge(reconciliation.status, isRunning(reconciliation) ? 'warn' : undefined);

const progressOf = ({ status, lines, comparedLines }: Reconciliation) => (
  <div class="note progress">
    <progress
      aria-label="Progress"
      max={Math.max(lines, 1)}
      value={status === 'comparing' ? comparedLines : undefined}
    />
    <p>{`${comparedLines.toLocaleString()} of ${lines.toLocaleString()} lines compared`}</p>
  </div>
);

const heading = (reconciliation: Reconciliation): string => {
  if (isRunning(reconciliation)) return `Differences so far: ${reconciliation.differences.toLocaleString()}`;
  if (reconciliation.status === 'done' && reconciliation.differences === 0)
    return 'The statement and the ledger agree in this period';
  return counted(reconciliation.differences, 'difference');
};

const detailsOf = (reconciliation: Wallet['ReconciliationWithKinds']) => {
  const missing = reconciliation.fields.filter(({ lines }) => lines === 0).map(({ field }) => field);
  const kinds = reconciliation.kinds.map(({ kind, differences, open }) => {
    const repaired = differences === open ? '' : `, ${(differences - open).toLocaleString()} repaired`;
    return [kindText(kind), `${differences.toLocaleString()}${repaired}`] as const;
  });
  return (
    <>
      {facts({
        State: stateOf(reconciliation),
        From: when(reconciliation.from),
        To: when(reconciliation.to),
        Tolerance: `${reconciliation.tolerance} s`,
        Lines: reconciliation.lines.toLocaleString(),
        Sent: time(reconciliation.createdAt),
        By: reconciliation.createdBy,
      })}
      {isRunning(reconciliation) && progressOf(reconciliation)}
      {missing.length > 0 && (
        <p class="note">Not compared, because no line has them: {missing.join(', ')}.</p>
      )}
      {reconciliation.failure !== null && <p class="note error">{failureText(reconciliation.failure)}</p>}
      <h2>{heading(reconciliation)}</h2>
      {kinds.length > 0 && facts(Object.fromEntries(kinds))}
    </>
  );
};

const selectedText = (count: number): string => counted(count, 'selected difference');

/** The differences of a kind in pages, downloads, and repairs. */
const Differences = ({ id, kinds }: { id: string; kinds: readonly KindCount[] }) => {
  const session = useSession();
  const downloadResult = useContent();
  const selection: Selection = useSignal(new Map());
  const columns = useMemo(() => differenceColumns(selection), [selection]);
  const { size } = selection.value;
  const path = `${pathOf(id)}/differences`;
  const options = kinds.map(({ kind }) => [kind, kindText(kind)] as const);
  const filters: readonly Filter[] = [
    { name: 'kind', label: 'Differences', options: [['', 'All'], ...options] },
  ];
  const { kind } = filterValues(filters);
  const opened = Number(place.value.filters.get('open'));
  const save = (format: 'csv' | 'jsonl') => () =>
    downloadResult.show(async () => {
      const selected = [...selection.value.values()].toSorted((a, b) => a.number - b.number);
      const file =
        selected.length === 0
          ? await session.file(`${path}.${format}`)
          : new Blob([format === 'csv' ? csvOf(selected) : jsonLinesOf(selected)]);
      download(`reconciliation-${id}.${format}`, file);
      return selected.length === 0
        ? 'The file contains all differences.'
        : `The file contains ${selectedText(selected.length)}.`;
    });
  const selectedNumbers = [...selection.value.keys()].join();
  const readDifferences = async () =>
    size === 0 ? readRepairable(session, id, kind) : sortRepairable([...selection.value.values()]);
  return (
    <div class="differences dense">
      <Filters filters={filters}>
        {button('Download CSV', save('csv'), 'quiet')}
        {button('Download JSONL', save('jsonl'), 'quiet')}
      </Filters>
      {size > 0 && (
        <p class="soft chosen">
          Downloads and repairs apply to {selectedText(size)}.{' '}
          {button('Clear selection', () => (selection.value = new Map()), 'link')}
        </p>
      )}
      <ContentView content={downloadResult} role="status" />
      {/* The key resets the panel: a confirmation applies only to the counted differences. */}
      <RepairsPanel key={`${kind} ${selectedNumbers}`} id={id} readDifferences={readDifferences} />
      <List
        caption="Differences"
        path={path}
        filters={filters}
        columns={columns}
        keyOf={({ number }) => String(number)}
        empty="There are no differences of this kind."
        isByTime={false}
      />
      {opened > 0 && Number.isInteger(opened) && <DifferenceDialog key={opened} id={id} number={opened} />}
    </div>
  );
};

/** A button that withdraws a reconciliation after a confirmation. */
const Withdrawal = ({ id }: { id: string }) => {
  const session = useSession();
  const withdraw = async () => {
    await session.ask(pathOf(id), 'DELETE');
    refreshAll();
    return 'Withdrawn.';
  };
  const confirm = async () => (
    <div class="note">
      <p>
        It allows no more repairs. Repairs of other reconciliations no longer wait for transactions that are
        missing in this one.
      </p>
      <Action name="Withdraw now" cssClass="danger" run={withdraw} isFocused />
    </div>
  );
  return (
    <div>
      <Action name="Withdraw …" cssClass="quiet" run={confirm} />
    </div>
  );
};

/** One reconciliation: its progress while it is running, then its differences. */
const OpenReconciliation = ({ id }: { id: string }) => {
  const session = useSession();
  const newest = useSignal<Wallet['ReconciliationWithKinds']>();
  const summary = useLoaded(async () => {
    newest.value = await session.ask<WalletResponse<'getReconciliation'>>(pathOf(id));
    return detailsOf(newest.value);
  }, [refreshCount.value]);
  useRefresh(newest.value !== undefined && isRunning(newest.value), newest.value);
  const { value: reconciliation } = newest;
  return (
    <div>
      <p class="links">
        <a href={addressOf('reconciliation')}>All reconciliations</a>
      </p>
      <ContentView content={summary} />
      {reconciliation?.failure === null && session.may('wallet:admin') && <Withdrawal id={id} />}
      {reconciliation && !isRunning(reconciliation) && reconciliation.differences > 0 && (
        <Differences id={id} kinds={reconciliation.kinds} />
      )}
    </div>
  );
};

const columns: Columns<Reconciliation> = {
  Sent: ({ reconciliationId: id, createdAt }) => (
    <a href={addressOf('reconciliation', { id })}>{time(createdAt)}</a>
  ),
  'Period from': ({ from }) => time(from),
  'Period to': ({ to }) => time(to),
  Lines: ({ lines }) => lines.toLocaleString(),
  Differences: ({ differences }) => differences.toLocaleString(),
  State: stateOf,
  By: ({ createdBy }) => createdBy,
};

/** All reconciliations, the newest first, and the form for another one. The list is refreshed while one of them changes. */
const AllReconciliations = () => {
  const isAdmin = useSession().may('wallet:admin');
  const isSending = useSignal(false);
  const newest = useSignal<readonly Reconciliation[]>([]);
  useRefresh(isSending.value || newest.value.some(isRunning), newest.value);
  return (
    <>
      {isAdmin && <UploadForm isSending={isSending} />}
      <h2>Reconciliations</h2>
      <List
        caption="Reconciliations"
        path="/v1/reconciliations"
        columns={columns}
        keyOf={({ reconciliationId }) => reconciliationId}
        empty="No statement has been compared yet."
        onRows={(rows) => (newest.value = rows)}
      />
    </>
  );
};

/** Comparisons of the ledger with statements of the game server; the address may name one of them. */
export const View = () => {
  const id = place.value.filters.get('id');
  return (
    <>
      <p class="soft intro">
        Compares the ledger with a statement of the game server, line by line, and repairs what the contract
        allows. <a href={guideAddress('docs/wallet-operator.md#reconciliation')}>Guide</a>
      </p>
      {id === null ? <AllReconciliations /> : <OpenReconciliation id={id} />}
    </>
  );
};
