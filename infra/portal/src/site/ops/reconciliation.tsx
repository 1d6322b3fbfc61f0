import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { WalletAnswer } from './api.ts';
import { guideAddress } from './health-text.ts';
import { List } from './list.tsx';
import { View, time, type Columns } from './parts.tsx';
import { addressOf, place } from './place.ts';
import { isRunning, refreshMs, type Reconciliation } from './reconciliation-data.ts';
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
  const version = useSignal(0);
  useEffect(() => {
    if (!isSending.value && !newest.value.some(isRunning)) return undefined;
    const timer = setTimeout(() => version.value++, refreshMs);
    return () => clearTimeout(timer);
  }, [newest.value, isSending, version]);
  return (
    <>
      {isAdmin && <UploadForm isSending={isSending} />}
      <h2>Reconciliations</h2>
      <List
        caption="Reconciliations"
        path="/v1/reconciliations"
        rows={({ reconciliations }: WalletAnswer<'listReconciliations'>) => reconciliations}
        columns={columns}
        keyOf={({ reconciliationId }) => reconciliationId}
        empty="No statement has been compared yet."
        version={`${version.value} ${isSending.value}`}
        onRows={(rows) => (newest.value = rows)}
      />
    </>
  );
};

/** Comparisons of the ledger with statements of the game server; the address may name one of them. */
export const ReconciliationView = () => {
  const id = place.value.filters.get('id');
  return (
    <View name="Reconciliation">
      <p class="soft intro">
        Compares the ledger with a statement of the game server, line by line, and repairs what the contract
        allows. <a href={guideAddress('docs/wallet-operator.md#reconciliation')}>Guide</a>
      </p>
      {id === null ? <AllReconciliations /> : <OneReconciliation id={id} />}
    </View>
  );
};
