import { useEffect } from 'preact/hooks';
import type { FunctionComponent } from 'preact';
import { Shown, useLoaded } from './content.tsx';
import { HealthStrip } from './health.tsx';
import { button, takeFocus } from './parts.tsx';
import { addressOf, navigation, place, restartView } from './place.ts';
import { SearchForm } from './search-form.tsx';
import { useSession } from './session.ts';
import { otherZone, switchZone, when, zoneName } from './time.ts';

/** The views by their address; the code of a view is loaded when it is opened. */
const views: Readonly<Record<string, { name: string; load: () => Promise<FunctionComponent> }>> = {
  find: { name: 'Find', load: async () => (await import('./find.tsx')).FindView },
  traffic: { name: 'Traffic', load: async () => (await import('./traffic.tsx')).TrafficView },
  webhooks: { name: 'Webhooks', load: async () => (await import('./events.tsx')).EventsView },
  rounds: { name: 'Rounds', load: async () => (await import('./rounds.tsx')).RoundsView },
  players: { name: 'Players', load: async () => (await import('./players.tsx')).PlayersView },
  limits: { name: 'Limits', load: async () => (await import('./limits.tsx')).LimitsView },
  money: { name: 'Money', load: async () => (await import('./money.tsx')).MoneyView },
  reconciliation: {
    name: 'Reconciliation',
    load: async () => (await import('./reconciliation.tsx')).ReconciliationView,
  },
  ledger: { name: 'Ledger', load: async () => (await import('./ledger.tsx')).LedgerView },
  evidence: { name: 'Evidence', load: async () => (await import('./evidence.tsx')).EvidenceView },
};

const firstView = 'traffic';

/** Loads the code of all views: after another version was deployed, the gateway has it no more, and a reload ends the session. */
const loadAll = (): void => {
  // A view that could not be loaded is loaded again when it is opened.
  for (const { load } of Object.values(views)) load().catch(() => undefined);
};

/** Calls a function when the page has nothing else to do; returns what cancels that. Safari has no requestIdleCallback. */
const whenIdle = (work: () => void): (() => void) => {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(work, 2000);
    return () => clearTimeout(timer);
  }
  const request = requestIdleCallback(work);
  return () => cancelIdleCallback(request);
};

/** Who is signed in until when, and the time zone, with a button that changes it. */
const SignedIn = () => {
  const { subject, expiresAt } = useSession();
  const other = otherZone();
  const change = (): void => {
    switchZone();
    restartView();
  };
  return (
    <p class="soft">
      Signed in as {subject}
      {expiresAt && ` until ${when(expiresAt.toISOString())}`}. Times in {zoneName()}.{' '}
      {other !== undefined && button(other, change, 'link')}
    </p>
  );
};

const LoadedView = ({ load }: { load: () => Promise<FunctionComponent> }) => {
  const content = useLoaded(async () => {
    const View = await load();
    return <View />;
  }, []);
  return <Shown content={content} class="view" />;
};

/** The views after the sign-in; `leave` is called by the sign-out button. */
export const Dashboard = ({ leave }: { leave: () => void }) => {
  const { view: asked } = place.value;
  const current = Object.hasOwn(views, asked) ? asked : firstView;
  const { count } = navigation.value;
  useEffect(() => whenIdle(loadAll), []);
  useEffect(() => {
    document.title = `${views[current]?.name} · Operations · Platform`;
  }, [current]);
  return (
    <>
      <div class="dashboard-head">
        <div>
          <h1 tabIndex={-1} ref={takeFocus}>
            Operations
          </h1>
          <SignedIn />
        </div>
        {button('Sign out', leave, 'quiet')}
      </div>
      <SearchForm />
      <HealthStrip />
      <nav class="views" aria-label="Operations">
        {Object.entries(views).map(([view, { name }]) => (
          <a key={view} href={addressOf(view)} aria-current={view === current ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {views[current] && <LoadedView key={`${current} ${count}`} load={views[current].load} />}
    </>
  );
};
