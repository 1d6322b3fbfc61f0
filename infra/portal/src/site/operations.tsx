import { batch, effect, signal } from '@preact/signals';
import { render } from 'preact';
import { byId } from './element.ts';
import { Dashboard } from './ops/dashboard.tsx';
import { makeRovingTabStop, moveRow } from './ops/keys.ts';
import { SessionContext, openSession, type Account, type Session } from './ops/session.ts';
import { SignIn } from './ops/sign-in.tsx';

const expired = 'Your access token has expired. Sign in again to continue where you were.';
const noLongerAccepted = 'Your access token is no longer accepted. Sign in again to continue where you were.';

/** Maximum of a browser timer (ms). A token with a longer lifetime is used until a service rejects it. */
const maxTimerMs = 2 ** 31 - 1;

const current = signal<Session | undefined>(undefined);
const notice = signal('');
/** The session of a running sign-in. */
let pending: Session | undefined;
/** Aborted at the end of the session, which also cancels a running sign-in or token renewal. */
let lifetime = new AbortController();

/** Shows the sign-in with the reason. The address keeps the view and its filters for the next sign-in. */
const leave = (reason = ''): void =>
  batch(() => {
    lifetime.abort();
    pending?.close();
    pending = undefined;
    current.value?.close();
    current.value = undefined;
    notice.value = reason;
  });

const endRefusedSession = ({ expiresAt }: Session): void =>
  leave(expiresAt && expiresAt.getTime() <= Date.now() ? expired : noLongerAccepted);

/** Starts to sign in or out, and cancels a running sign-in. */
const begin = (reason = 'Signing in …'): AbortSignal => {
  leave(reason);
  lifetime = new AbortController();
  return lifetime.signal;
};

/** Opens the session of a running sign-in. */
const attempt = (account: Account): Session => {
  const session = openSession(account, () => endRefusedSession(session));
  pending = session;
  return session;
};

const enter = (session: Session): void => {
  if (session !== pending) return;
  batch(() => {
    pending = undefined;
    notice.value = '';
    current.value = session;
  });
};

effect(() => {
  const remainingMs = (current.value?.expiresAt?.getTime() ?? Infinity) - Date.now();
  if (remainingMs > maxTimerMs) return undefined;
  const timer = setTimeout(() => leave(expired), remainingMs);
  return () => clearTimeout(timer);
});

const signOut = (): void => {
  const session = current.value;
  // Removed first, because `begin` closes the current session, and signOut still needs its tokens.
  current.value = undefined;
  void session?.signOut(begin(''));
};

// Other pages open in a new tab, because leaving this page would end the session.
addEventListener(
  'click',
  ({ target }) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.href.startsWith(`${location.origin}/docs/`) && link.pathname !== location.pathname)
      link.target = current.value ? '_blank' : '';
  },
  { capture: true },
);

document.querySelectorAll<HTMLElement>('.bar').forEach(makeRovingTabStop);

// The fragment of the address selects the view, so the skip link cannot use a fragment; it focuses the first row.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  if (moveRow(0)) return;
  const content = document.querySelector<HTMLElement>('.view section') ?? byId('content', HTMLElement);
  content.tabIndex = -1;
  content.focus();
});

// A page in the back/forward cache must not keep the token.
addEventListener('pagehide', () => leave());

const Operations = () => {
  const { value: session } = current;
  return (
    <>
      {session === undefined && <SignIn notice={notice} begin={begin} attempt={attempt} enter={enter} />}
      <div id="dashboard" hidden={session === undefined}>
        {session && (
          <SessionContext.Provider value={session}>
            <Dashboard leave={signOut} />
          </SessionContext.Provider>
        )}
      </div>
    </>
  );
};

render(<Operations />, byId('content', HTMLElement));
