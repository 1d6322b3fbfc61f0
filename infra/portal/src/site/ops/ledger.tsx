import type { Wallet, WalletResponse } from './api.ts';
import { auditSentence, auditActor, type AuditEvent } from './audit-text.ts';
import { Action } from './content.tsx';
import { Filters, playerFilter } from './filters.tsx';
import { findLink, playerLink } from './links.tsx';
import { List, Table } from './list.tsx';
import { Json, code, facts, stateBadge, time, type Columns } from './parts.tsx';
import { addressOf } from './place.ts';
import { useSession } from './session.ts';

const violationColumns: Columns<Wallet['Proof']['violations'][number]> = {
  Kind: ({ kind }) => code(kind),
  Player: ({ playerId }) => playerLink(playerId),
  Transaction: ({ transactionId }) => findLink(transactionId),
  Detail: ({ detail }) => detail,
};

const proofResult = ({ ok, checkedAt, players, entries, violations }: Wallet['Proof']) => (
  <div class="note">
    {facts({
      Result: ok
        ? stateBadge('good', 'The ledger is consistent')
        : stateBadge('bad', `${violations.length} violations`),
      Players: players.toLocaleString(),
      Entries: entries.toLocaleString(),
      Checked: time(checkedAt),
    })}
    {violations.length > 0 && <Table caption="Violations" columns={violationColumns} rows={violations} />}
  </div>
);

/** The sentence for an event, with a link to its reconciliation if it has one. */
const sentenceCell = (event: AuditEvent) => {
  const { reconciliationId: id, number } = event.details;
  const open = typeof number === 'number' ? String(number) : '';
  return (
    <span class="what">
      {auditSentence(event)}{' '}
      {typeof id === 'string' && <a href={addressOf('reconciliation', { id, open })}>Open</a>}
    </span>
  );
};

const eventColumns: Columns<Wallet['AuditEvent']> = {
  When: ({ at }) => time(at),
  Who: auditActor,
  What: sentenceCell,
  Player: ({ playerId }) => playerLink(playerId),
  Details: ({ details }) => (
    <details>
      <summary>Details</summary>
      <Json value={details} />
    </details>
  ),
};

/** The verification of the ledger and the audit log. */
export const View = () => {
  const session = useSession();
  const prove = async () => proofResult(await session.ask<WalletResponse<'proveLedger'>>('/v1/audit/proof'));
  return (
    <>
      <p class="soft intro">
        Compares every balance with its entries in one snapshot. Callbacks are not interrupted.
      </p>
      <Action name="Verify the ledger" run={prove} />
      <h2>Audit log</h2>
      <Filters filters={[playerFilter]} />
      <List
        caption="Audit log"
        path="/v1/audit/events"
        filters={[playerFilter]}
        columns={eventColumns}
        keyOf={({ eventId }) => eventId}
        empty="There are no audit events."
      />
    </>
  );
};
