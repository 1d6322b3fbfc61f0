import { useSignal } from '@preact/signals';
import { useRefresh } from './content.tsx';
import { guideAddress } from './health-text.ts';
import { List } from './list.tsx';
import { time, type Columns } from './parts.tsx';
import { addressOf, place } from './place.ts';
import { isRunning, type Reconciliation } from './reconciliation-data.ts';
import { OneReconciliation, stateOf } from './reconciliation-one.tsx';
import { UploadForm } from './reconciliation-upload.tsx';
import { useSession } from './session.ts';

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
      {id === null ? <AllReconciliations /> : <OneReconciliation id={id} />}
    </>
  );
};
