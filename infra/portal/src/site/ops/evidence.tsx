import { batch, useSignal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import type { Wallet, WalletResponse } from './api.ts';
import { Action, Loaded, refreshAll } from './content.tsx';
import { download } from '../element.ts';
import { decimalOf, guideAddress } from './text.ts';
import { findLink } from './links.tsx';
import { List, Table } from './list.tsx';
import { Input, button, code, formValues, facts, money, time, type Columns } from './parts.tsx';
import { changeFilters, pathOfRound, place } from './place.ts';
import { useSession } from './session.ts';

/** Saves JSON. JSON.stringify writes the same bytes as the service, so the signature of evidence stays valid. */
const save = (name: string, value: unknown): void =>
  download(name, new Blob([JSON.stringify(value)], { type: 'application/json' }));

type EvidenceFile = Wallet['Evidence'];

const entryColumns = (currency: string): Columns<EvidenceFile['evidence']['entries'][number]> => ({
  'No.': ({ seq }) => seq,
  At: ({ at }) => time(at),
  Operation: ({ operation }) => operation,
  Amount: ({ amount }) => money(decimalOf(amount), currency),
  'Balance after': ({ balanceAfter }) => money(decimalOf(balanceAfter), currency),
  Transaction: ({ transactionId }) => findLink(transactionId),
  Checkpoint: ({ checkpoint }) => String(checkpoint),
});

const EvidenceView = ({ file, onShown }: { file: EvidenceFile; onShown: (entries: number) => void }) => {
  const { playerId, roundId, currency, entries, checkpoints } = file.evidence;
  useEffect(() => onShown(entries.length), [onShown, entries]);
  return (
    <>
      {facts({
        Player: findLink(playerId),
        Round: findLink(roundId),
        Entries: String(entries.length),
        Sealed: time(checkpoints.at(-1)?.sealedAt ?? null),
      })}
      <div class="actions">{button('Download evidence', () => save('evidence.json', file))}</div>
      <div class="list">
        <Table caption="Entries of the evidence" columns={entryColumns(currency)} rows={entries} />
      </div>
    </>
  );
};

/** The form for the evidence of a round. The address keeps its values. */
const RoundEvidence = () => {
  // Screen readers read only this summary, not up to 1,000 rows.
  const summary = useSignal('');
  const announce = useCallback(
    (entries: number): void => void (summary.value = `Entries with evidence: ${entries}`),
    [summary],
  );
  const [player = '', round = ''] = ['player', 'round'].map((name) => place.value.filters.get(name) ?? '');
  const show = (values: Record<string, string>): void =>
    batch(() => {
      summary.value = '';
      changeFilters(values);
      refreshAll();
    });
  return (
    <>
      <form class="filters" onSubmit={(event) => show(formValues(event))}>
        <Input label="Player" name="player" required maxLength={255} value={player} />
        <Input label="Round id" name="round" required maxLength={255} value={round} />
        {button('Show evidence')}
      </form>
      <p class="unseen" role="status">
        {summary}
      </p>
      {player && round && (
        <Loaded path={`${pathOfRound(player, round)}/evidence`}>
          {(file: EvidenceFile) => <EvidenceView file={file} onShown={announce} />}
        </Loaded>
      )}
    </>
  );
};

const columns: Columns<WalletResponse<'listCheckpoints'>['checkpoints'][number]> = {
  Number: ({ number }) => String(number),
  Sealed: ({ sealedAt }) => time(sealedAt),
  Entries: ({ entries }) => String(entries),
  'Total entries': ({ total }) => String(total),
  Key: ({ keyId }) => code(keyId),
};

/** The public keys, and the checkpoints, newest first. */
const Checkpoints = () => {
  const session = useSession();
  const saveKeys = async () => {
    save('keys.json', await session.ask<WalletResponse<'listSealingKeys'>>('/v1/audit/keys'));
    return 'Give these keys to third parties in person, not together with the evidence.';
  };
  return (
    <>
      <h2>Checkpoints</h2>
      <Action name="Download public keys" cssClass="quiet" run={saveKeys} />
      <List
        caption="Checkpoints"
        path="/v1/audit/checkpoints?sort=-number"
        columns={columns}
        empty="No entries are sealed yet."
        renderBelow={(checkpoints) => (
          <div class="actions">
            {button('Download these checkpoints', () => save('checkpoints.json', { checkpoints }), 'quiet')}
          </div>
        )}
      />
    </>
  );
};

/** The evidence of a round, and the checkpoints. */
export const View = () => {
  const { may } = useSession();
  return (
    <>
      <p class="soft intro">
        Evidence is a file that proves to third parties which entries a round has and that they were not
        changed. <a href={guideAddress('docs/wallet-operator.md#evidence')}>Guide</a>
      </p>
      {may('wallet:read') && <RoundEvidence />}
      {may('wallet:audit') && <Checkpoints />}
    </>
  );
};
