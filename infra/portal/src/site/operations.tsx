import { batch, effect, signal } from '@preact/signals';
import { render } from 'preact';
import { byId } from './element.ts';
import { Dashboard } from './ops/dashboard.tsx';
import { makeOneStop, moveRow } from './ops/keys.ts';
import { SessionContext, openSession, type Account, type Session } from './ops/session.ts';
import { SignIn } from './ops/sign-in.tsx';

const expired = 'Your access token has expired. Sign in again to continue where you were.';
const noLongerAccepted = 'Your access token is no longer accepted. Sign in again to continue where you were.';

/** Browsers support no longer timer (ms). A token that is valid longer stays until a service refuses it. */
const longest = 2 ** 31 - 1;

const current = signal<Session | undefined>(undefined);
const notice = signal('');
/** The session of a sign-in that is under way. */
let pending: Session | undefined;
/** Ends with the session: what a sign-in or a renewal of a token still waits for then comes to nothing. */
let life = new AbortController();

/** Shows the sign-in again, and why. The address keeps the view and its filters for the next sign-in. */
const leave = (reason = ''): void =>
  batch(() => {
    life.abort();
    pending?.close();
    pending = undefined;
    current.value?.close();
    current.value = undefined;
    notice.value = reason;
  });

const refused = ({ expiresAt }: Session): void =>
  leave(expiresAt && expiresAt.getTime() <= Date.now() ? expired : noLongerAccepted);

/** Begins to sign in or out, and ends what is under way. */
const begin = (reason = 'Signing in …'): AbortSignal => {
  leave(reason);
  life = new AbortController();
  return life.signal;
};

/** Opens the session of a sign-in that has begun. */
const attempt = (account: Account): Session => {
  const session = openSession(account, () => refused(session));
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
  const left = (current.value?.expiresAt?.getTime() ?? Infinity) - Date.now();
  if (left > longest) return undefined;
  const timer = setTimeout(() => leave(expired), left);
  return () => clearTimeout(timer);
});

const signOut = (): void => {
  const session = current.value;
  // `begin` would close it, and its tokens are needed for that.
  current.value = undefined;
  void session?.signOut(begin(''));
};

// Other pages open beside this one, which would lose its session.
addEventListener(
  'click',
  ({ target }) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.href.startsWith(`${location.origin}/docs/`) && link.pathname !== location.pathname)
      link.target = current.value ? '_blank' : '';
  },
  { capture: true },
);

document.querySelectorAll<HTMLElement>('.bar').forEach(makeOneStop);

// The fragment is the place in the page, so that the link to skip to the content cannot be one: it leads to the first row.
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
