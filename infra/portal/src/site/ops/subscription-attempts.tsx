import type { Subscriptions } from './api.ts';
import { Action, Loaded, refreshAll } from './content.tsx';
import { Filters, anyOf, filterValues, type Filter } from './filters.tsx';
import { CopyableId } from './links.tsx';
import { Verbatim, button, code, facts, emptyNote, stateBadge, time, type Columns } from './parts.tsx';
import { changeFilters, place } from './place.ts';
import { useSession, type Session } from './session.ts';
import { failedShare, medianMs, trendOf, type Attempt } from './subscriptions-data.ts';
import { Table } from './list.tsx';
import { counted, short } from './text.ts';
import { when } from './time.ts';
import { Chart } from './traffic.tsx';

type AttemptList = Subscriptions['DeliveryAttemptList'];

/** Lets the service send changes again; returns a note with their number. @param path of the subscription */
export const sendAgain = async (session: Session, path: string, selection: object) => {
  const response = await session.ask<Subscriptions['ReplayedChanges']>(`${path}/replay`, 'POST', selection);
  return (
    <p class="note">
      {counted(response.replayed, 'change')} will be sent again.
      {response.next !== null && ` There are more, from ${when(response.next)} on.`}
    </p>
  );
};

/** The status of the response as a badge. */
export const outcome = ({ error, status }: Pick<Attempt, 'error' | 'status'>) =>
  stateBadge(error === null ? 'good' : 'bad', status === null ? 'no answer' : String(status));

const Details = ({ attempt, path }: { attempt: Attempt; path: string }) => {
  const session = useSession();
  const { event, record, attempt: number, version, error, answer } = attempt;
  return (
    <details>
      <summary>Details</summary>
      {facts({ Event: <CopyableId id={event} />, Record: record, Attempt: String(number) })}
      {error !== null && <p class="error">{error}</p>}
      {answer !== null && <Verbatim text={answer} />}
      {version !== null && (
        <Action name="Send again" cssClass="quiet" run={() => sendAgain(session, path, { version })} />
      )}
    </details>
  );
};

const columns = (path: string): Columns<Attempt> => ({
  Sent: ({ sentAt }) => time(sentAt),
  Event: ({ type }) => code(type),
  Answer: outcome,
  Took: ({ ms }) => `${ms.toLocaleString()} ms`,
  Details: (attempt) => <Details attempt={attempt} path={path} />,
});

const filter: Filter = { name: 'result', label: 'Result', options: anyOf(['delivered', 'failed']) };

/** The attempts of a subscription, newest first. A page starts after the attempt whose id is in the address. */
export const Attempts = ({ path }: { path: string }) => {
  const before = place.value.filters.get('page') ?? '';
  const query = new URLSearchParams({ limit: '20', ...filterValues([filter]), ...(before && { before }) });
  const goToPage = (page?: number) => () => changeFilters({ page: String(page ?? '') });
  return (
    <>
      <Filters filters={[filter]}>{button('Refresh', refreshAll, 'quiet')}</Filters>
      <Loaded path={`${path}/attempts?${query}`} class="list">
        {({ attempts, has_more }: AttemptList) =>
          attempts.length === 0 ? (
            emptyNote('There is no such attempt.')
          ) : (
            <>
              <Table
                caption="Attempts"
                columns={columns(path)}
                rows={attempts}
                keyOf={({ id }) => String(id)}
              />
              <nav class="pager" aria-label="Pages" hidden={before === '' && !has_more}>
                {button('Newest', goToPage(), 'quiet', { disabled: before === '' })}
                {button('Older', goToPage(attempts.at(-1)?.id), 'quiet', { disabled: !has_more })}
              </nav>
            </>
          )
        }
      </Loaded>
    </>
  );
};

/** Success rate and duration of the newest attempts. */
export const Success = ({ path }: { path: string }) => {
  const session = useSession();
  return (
    <Loaded path={`${path}/attempts?limit=200`}>
      {({ attempts }: AttemptList) => {
        if (attempts.length === 0) return emptyNote('There were no attempts in the last days.');
        const { failed, ms, spanSeconds } = trendOf(attempts, session.serverTime().getTime());
        return (
          <>
            {facts({
              Delivered: `${short(100 - (failedShare(attempts) ?? 0))} % of ${counted(attempts.length, 'attempt')}`,
              'Median time': `${short(medianMs(attempts) ?? 0)} ms`,
            })}
            <div class="beside">
              <Chart name="Failed" unit=" %" floor={5} points={failed} areBars spanSeconds={spanSeconds} />
              <Chart name="Time" unit=" ms" floor={10} points={ms} spanSeconds={spanSeconds} />
            </div>
          </>
        );
      }}
    </Loaded>
  );
};
