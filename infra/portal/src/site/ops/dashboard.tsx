import { useSignal } from '@preact/signals';
import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { cell, cellNames, inCell } from './cells.ts';
import { CommandsDialog, type Command } from './commands.tsx';
import { ContentView, useLoaded } from './content.tsx';
import { findScopes } from './find-data.ts';
import { HealthStrip } from './health.tsx';
import { areLetterKeysOn, toggleLetterKeys, useKeys, useRovingTabStop } from './keys.ts';
import { button, Choice, takeFocus } from './parts.tsx';
import { addressOf, goTo, navigation, place, restartView } from './place.ts';
import { SearchForm } from './search-form.tsx';
import { useSession, type Session } from './session.ts';
import { errorText } from './text.ts';
import { otherZone, switchZone, when, zoneName } from './time.ts';

interface ViewEntry {
  name: string;
  /** The token needs one of these scopes. */
  scopes: readonly string[];
  load: () => Promise<{ View: FunctionComponent }>;
}

const wallet = ['wallet:read'];
const webhooks = ['events:read', 'stores:admin'];
const feeds = SERVICES.flatMap(({ name, lists }) => (lists.length > 0 ? [`${name}:subscriptions`] : []));
const settings = ['stores:read', 'wallet:admin', 'verify:admin'];

/** The views by their name in the address. The code of a view is loaded when it is opened. */
const views: Readonly<Record<string, ViewEntry>> = {
  find: { name: 'Find', scopes: findScopes, load: () => import('./find.tsx') },
  traffic: { name: 'Traffic', scopes: ['ops:read'], load: () => import('./traffic.tsx') },
  webhooks: { name: 'Webhooks', scopes: webhooks, load: () => import('./events.tsx') },
  rounds: { name: 'Rounds', scopes: wallet, load: () => import('./rounds.tsx') },
  refusals: { name: 'Refusals', scopes: wallet, load: () => import('./refusals.tsx') },
  players: { name: 'Players', scopes: wallet, load: () => import('./players.tsx') },
  limits: { name: 'Limits', scopes: wallet, load: () => import('./limits.tsx') },
  money: { name: 'Money', scopes: wallet, load: () => import('./money.tsx') },
  reconciliation: { name: 'Reconciliation', scopes: wallet, load: () => import('./reconciliation.tsx') },
  ledger: { name: 'Ledger', scopes: ['wallet:admin'], load: () => import('./ledger.tsx') },
  evidence: { name: 'Evidence', scopes: ['wallet:audit', ...wallet], load: () => import('./evidence.tsx') },
  settings: { name: 'Settings', scopes: settings, load: () => import('./settings.tsx') },
  subscriptions: { name: 'Subscriptions', scopes: feeds, load: () => import('./subscriptions.tsx') },
  // Only `start` issues tokens with this scope.
  mailbox: { name: 'Mailbox', scopes: ['mailbox'], load: () => import('./mailbox.tsx') },
};

/** Delay after which the first view is probably visible. Safari has no requestIdleCallback. */
const idleMs = 2000;

/** Loads the code of all views before a deployment removes this version from the gateway: a reload would end the session. */
const preloadViews = (): void => {
  // If this fails, the code is loaded again when the view is opened.
  for (const { load } of Object.values(views)) load().catch(() => undefined);
};

const changeZone = (): void => {
  switchZone();
  restartView();
};

/** The signed-in user, the end of the session, and the time zone. */
const SignedIn = () => {
  const { subject, expiresAt } = useSession();
  return (
    <p class="soft">
      Signed in as {subject}
      {expiresAt && ` until ${when(expiresAt.toISOString())}`}. Times in {zoneName()}.
    </p>
  );
};

/** Select element for the cell of the views. A cell is selected only if its services accept the token. */
const CellChoice = () => {
  const session = useSession();
  const problem = useSignal('');
  // Reset at sign-out, because the next token may not be valid for the cell.
  useEffect(() => () => void (cell.value = ''), []);
  const choose = async (select: HTMLSelectElement): Promise<void> => {
    const name = select.value;
    const services = SERVICES.filter(({ cells }) => cells.includes(name));
    try {
      for (const service of services) await session.ask(inCell(`/docs/ops/caller/${service.name}`, name));
      cell.value = name;
      problem.value = '';
      restartView();
    } catch (error) {
      select.value = cell.value;
      problem.value = `The cell ${name}: ${errorText(error)}`;
    }
  };
  return (
    <>
      <Choice
        label="Cell"
        options={[['', 'first'], ...cellNames().map((name) => [name, name] as const)]}
        value={cell.value}
        onChange={({ currentTarget }) => void choose(currentTarget)}
      />
      <p role="status">{problem}</p>
    </>
  );
};

/** A view. It gets the focus if a link in the content opened it, so that screen readers read its name. */
const Section = ({ name, children }: { name: string; children: ComponentChildren }) => {
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (!navigation.peek().isFromContent || section.current === null) return;
    section.current.tabIndex = -1;
    section.current.focus({ preventScroll: true });
    section.current.parentElement?.scrollIntoView();
  }, []);
  return (
    <section ref={section} aria-label={name}>
      {children}
    </section>
  );
};

const LoadedView = ({ name, load }: ViewEntry) => {
  const content = useLoaded(async () => {
    const { View } = await load();
    return (
      <Section name={name}>
        <View />
      </Section>
    );
  }, []);
  return <ContentView content={content} class="view" />;
};

const eitherOf = new Intl.ListFormat('en', { type: 'disjunction' });

/** Shown instead of a view that the token does not allow. */
const Forbidden = ({ name, scopes }: ViewEntry) => (
  <div class="view">
    <Section name={name}>
      <p class="note">
        {name} needs the scope {eitherOf.format(scopes)}, which your access token does not have.
      </p>
    </Section>
  </div>
);

/** The view of an address; by default the first one that the token allows, and Find only if there is no other. */
const viewOf = (name: string, { may }: Session): string => {
  if (Object.hasOwn(views, name)) return name;
  const [find = 'find', ...others] = Object.keys(views);
  return others.find((view) => may(...(views[view]?.scopes ?? []))) ?? find;
};

/** Options of the command dialog: the views that the token allows, and actions. */
const commandsOf = (allowed: [view: string, entry: ViewEntry][], leave: () => void): Command[] => {
  const actions: (readonly [name: string | undefined, run: () => void])[] = [
    ['Reload this view', () => restartView({ isFromContent: true })],
    [otherZone(), changeZone],
    [areLetterKeysOn() ? 'Turn off the keys /, j and k' : 'Turn on the keys /, j and k', toggleLetterKeys],
    ['Sign out', leave],
  ];
  const commands: Command[] = [];
  for (const [view, { name }] of allowed)
    commands.push({ group: 'View', name, run: () => goTo(addressOf(view)) });
  for (const [name, run] of actions) if (name !== undefined) commands.push({ group: 'Action', name, run });
  return commands;
};

/** The views after the sign-in. The sign-out button calls `leave`. */
export const Dashboard = ({ leave }: { leave: () => void }) => {
  const session = useSession();
  const allowed = Object.entries(views).filter(([, { scopes }]) => session.may(...scopes));
  const current = viewOf(place.value.view, session);
  const view = views[current];
  const { count } = navigation.value;
  const isCommandDialogOpen = useSignal(false);
  const openCommandDialog = (): void => void (isCommandDialogOpen.value = true);
  useKeys(openCommandDialog);
  const [tools, viewLinks] = [useRovingTabStop<HTMLDivElement>(), useRovingTabStop<HTMLElement>()];
  const zone = otherZone();
  useEffect(() => {
    const timer = setTimeout(preloadViews, idleMs);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    document.title = `${view?.name} · Operations · Platform`;
    // On a phone the links may be scrolled out of view.
    const link = viewLinks.current?.querySelector('[aria-current]');
    link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view, viewLinks]);
  return (
    <>
      <div class="dashboard-head">
        <div>
          <h1 tabIndex={-1} ref={takeFocus}>
            Operations
          </h1>
          <SignedIn />
        </div>
        {session.may(...findScopes) && <SearchForm />}
        <div class="tools" role="toolbar" aria-label="Session" ref={tools}>
          {zone !== undefined && button(zone, changeZone, 'quiet')}
          <button type="button" class="quiet" aria-keyshortcuts="Control+K" onClick={openCommandDialog}>
            Commands <kbd>Ctrl K</kbd>
          </button>
          {button('Sign out', leave, 'quiet')}
        </div>
      </div>
      {cellNames().length > 0 && <CellChoice />}
      {session.may('ops:read') && <HealthStrip key={cell.value} />}
      <nav class="views" aria-label="Operations" aria-keyshortcuts="ArrowLeft ArrowRight" ref={viewLinks}>
        {allowed.map(([address, { name }]) => (
          <a key={address} href={addressOf(address)} aria-current={address === current ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {isCommandDialogOpen.value && (
        <CommandsDialog
          commands={commandsOf(allowed, leave)}
          onClose={() => (isCommandDialogOpen.value = false)}
        />
      )}
      {view &&
        (session.may(...view.scopes) ? (
          <LoadedView key={`${current} ${count}`} {...view} />
        ) : (
          <Forbidden {...view} />
        ))}
    </>
  );
};
