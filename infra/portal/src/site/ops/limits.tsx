import { useSignal } from '@preact/signals';
import type { Wallet } from './api.ts';
import { Loaded } from './content.tsx';
import { field, applyPatch } from './fields.ts';
import { PlayerSelection } from './filters.tsx';
import { guideAddress, limitKinds, limitName, type LimitSlot } from './text.ts';
import { List, Table } from './list.tsx';
import { facts, money, emptyNote, stateBadge, time, type Columns } from './parts.tsx';
import { RecordForm } from './record-form.tsx';
import { Refused, useSession } from './session.ts';
import { when } from './time.ts';

const valueOf = ({ kind }: LimitSlot, value: string | null, currency: string) =>
  value === null ? 'no limit' : money(value, kind === 'session' ? 'min' : currency);

const limitColumns = (currency: string): Columns<LimitSlot & { limit: string | null }> => ({
  Limit: limitName,
  Allowed: (limit) => valueOf(limit, limit.limit, currency),
});

const lowestColumns = (currency: string): Columns<Wallet['Limits']['lowest'][number]> => ({
  ...limitColumns(currency),
  Used: (limit) => valueOf(limit, limit.used, currency),
  Left: (limit) => valueOf(limit, limit.remaining, currency),
  Since: ({ since }) => time(since),
});

const pendingColumns = (currency: string): Columns<Wallet['Limits']['pending'][number]> => ({
  ...limitColumns(currency),
  'Set by': ({ setBy }) => setBy,
  From: ({ effectiveAt }) => time(effectiveAt),
});

const changeColumns = (currency: string): Columns<Wallet['LimitChange']> => ({
  At: ({ changedAt }) => time(changedAt),
  ...limitColumns(currency),
  'Set by': ({ setBy, changedBy }) => `${setBy} (${changedBy})`,
  From: ({ cancelledAt, effectiveAt }) =>
    cancelledAt === null ? time(effectiveAt) : stateBadge('plain', `cancelled ${when(cancelledAt)}`),
});

const limitTables = ({ currency, lowest, pending, timeZone }: Wallet['Limits']) => {
  if (lowest.length + pending.length === 0) return emptyNote('This player has no limits.');
  return (
    <>
      <div class="list">
        <Table caption="Limits in force" columns={lowestColumns(currency)} rows={lowest} />
      </div>
      <p class="soft">Months start at midnight in {timeZone}.</p>
      {pending.length > 0 && (
        <>
          <h2>Pending</h2>
          <div class="list">
            <Table caption="Pending changes" columns={pendingColumns(currency)} rows={pending} />
          </div>
        </>
      )}
    </>
  );
};

const setters = ['operator', 'player'] as const;

const limitFields = [
  ...Object.entries(limitKinds).flatMap(([kind, label]) =>
    ['24h', '7d', 'month'].map((period) => field(`${kind}/${period}`, `${label}, ${period}`)),
  ),
  field('sessionMinutes', 'Session, minutes', { kind: 'number' }),
];

/** The limits of a setter including pending changes. A change without the pending ones would cancel them. */
const requestedLimits = (limits: Wallet['Limits'], setter: (typeof setters)[number]): object => {
  let requested: object = limits[setter];
  for (const { setBy, kind, period, limit } of limits.pending) {
    if (setBy !== setter) continue;
    const patch =
      kind === 'session' ? { sessionMinutes: limit && Number(limit) } : { [kind]: { [period]: limit } };
    requested = applyPatch(requested, patch) as object;
  }
  return requested;
};

const LimitForms = ({ limits, path }: { limits: Wallet['Limits']; path: string }) => {
  const session = useSession();
  return setters.map((setBy) => {
    const requested = requestedLimits(limits, setBy);
    const save = async (patch: object) => {
      // Limits have no version, so a concurrent change is detected by comparison.
      const current = requestedLimits(await session.ask<Wallet['Limits']>(`${path}/limits`), setBy);
      if (JSON.stringify(current) !== JSON.stringify(requested)) throw new Refused(412, {});
      await session.ask(`${path}/limits`, 'PUT', { ...(applyPatch(requested, patch) as object), setBy });
      return (
        <p class="note">
          Saved. A lower limit is in force now; a higher limit or no limit takes effect in 24 hours.
        </p>
      );
    };
    const title = `Change the limits set by the ${setBy}`;
    return (
      <RecordForm
        key={setBy}
        label={title}
        groups={[{ title, fields: limitFields, isFolded: true }]}
        record={requested}
        save={save}
      />
    );
  });
};

const sessionFacts = ({ currency, session }: Wallet['PlaySession']) => {
  if (session === null) return emptyNote('This player has never played.');
  const { isOver, minutes, startedAt, lastBetAt, wagered, won, result } = session;
  return facts({
    State: isOver ? stateBadge('plain', 'over') : stateBadge('good', 'playing'),
    Time: `${minutes} min`,
    'First bet': time(startedAt),
    'Last bet': time(lastBetAt),
    Bets: money(wagered, currency),
    Wins: money(won, currency),
    Result: money(result, currency),
  });
};

/** The limits of one player with their use, the newest play session, and the changes. */
const Limits = ({ playerId }: { playerId: string }) => {
  const session = useSession();
  const path = `/v1/players/${encodeURIComponent(playerId)}`;
  /** Currency of the player, which the history does not contain. */
  const currency = useSignal('');
  return (
    <>
      <Loaded path={`${path}/limits`}>
        {(limits: Wallet['Limits']) => {
          currency.value = limits.currency;
          return (
            <>
              {limitTables(limits)}
              {session.may('wallet:admin') && <LimitForms limits={limits} path={path} />}
            </>
          );
        }}
      </Loaded>
      <h2>Play session</h2>
      <Loaded path={`${path}/session`}>{sessionFacts}</Loaded>
      <h2>Changes</h2>
      {currency.value && (
        <List
          caption="Changes of limits"
          path={`${path}/limits/history`}
          columns={changeColumns(currency.value)}
          empty="The limits were never changed."
        />
      )}
    </>
  );
};

/** The limits of the player in the filter. */
export const View = () => (
  <>
    <p class="soft intro">
      Limits that the player or the operator has set.{' '}
      <a href={guideAddress('docs/wallet-operator.md#limits-of-players')}>Guide</a>
    </p>
    <PlayerSelection>{(playerId) => <Limits key={playerId} playerId={playerId} />}</PlayerSelection>
  </>
);
