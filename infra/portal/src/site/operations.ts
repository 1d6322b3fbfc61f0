import { demoCredentials, forgetDemo } from './demo.ts';
import { byId } from './element.ts';
import { createDashboard } from './ops/dashboard.ts';
import { removeDialogs } from './ops/parts.ts';
import { openSession, Refused, type Session } from './ops/session.ts';
import { errorText } from './ops/text.ts';

const signIn = byId('sign-in', HTMLElement);
const dashboard = byId('dashboard', HTMLElement);
const input = byId('token', HTMLInputElement);
const problem = byId('sign-in-error', HTMLElement);

const notice = byId('sign-in-notice', HTMLElement);

/** Shows the sign-in again, and why. The address keeps the view and its filters for the next sign-in. */
let leave = (_reason?: string): void => {};

const expired = 'Your access token has expired. Sign in again to continue where you were.';
const refused = 'Your access token is no longer accepted. Sign in again to continue where you were.';

/** Browsers support no longer timer (ms). A token that is valid longer stays until a service refuses it. */
const longest = 2 ** 31 - 1;

const enter = (session: Session): void => {
  const { content, end } = createDashboard(session, () => leave());
  const left = session.expiresAt ? session.expiresAt.getTime() - Date.now() : Infinity;
  const expiry = left > longest ? undefined : setTimeout(() => leave(expired), left);
  leave = (reason = '') => {
    clearTimeout(expiry);
    session.close();
    end();
    removeDialogs();
    notice.textContent = reason;
    dashboard.replaceChildren();
    dashboard.hidden = true;
    signIn.hidden = false;
    input.focus();
    leave = () => {};
  };
  signIn.hidden = true;
  dashboard.hidden = false;
  dashboard.replaceChildren(...content);
  dashboard.querySelector('h1')?.focus();
};

/** Whether the token itself was refused: a missing scope (403) or an unavailable service is no reason to refuse it. */
const isInvalidToken = ({ status }: Refused): boolean => status >= 400 && status < 500 && status !== 403;

/** Signs in when a service accepts the token; each view reports missing scopes. `onInvalid` is called for 401. */
const tryToken = async (token: string, onInvalid?: () => void): Promise<void> => {
  problem.textContent = '';
  notice.textContent = '';
  // No other character can be in a header.
  if (!/^[\w.-]+$/.test(token)) {
    problem.textContent = 'This is not an access token.';
    return;
  }
  notice.textContent = 'Signing in …';
  const session = openSession(token, () => {
    leave(session.expiresAt && session.expiresAt.getTime() <= Date.now() ? expired : refused);
  });
  try {
    await session.ask(`/docs/ops/summary/${SERVICES[1]?.name ?? ''}`);
  } catch (error) {
    if (!(error instanceof Refused) || isInvalidToken(error)) {
      session.close();
      notice.textContent = '';
      problem.textContent = errorText(error);
      if (error instanceof Refused && error.status === 401) onInvalid?.();
      return;
    }
  }
  notice.textContent = '';
  enter(session);
};

byId('sign-in-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  const token = input.value.trim();
  input.value = '';
  void tryToken(token);
});

// A page in the back/forward cache must not keep the token.
addEventListener('pagehide', () => leave());

void demoCredentials().then((demo) => {
  if (!demo) return;
  const use = byId('use-demo', HTMLButtonElement);
  use.hidden = false;
  use.addEventListener('click', () => {
    void tryToken(demo.accessToken, () => {
      forgetDemo();
      use.hidden = true;
      problem.textContent = 'The demo token is not valid any more. Open the link that `start` printed.';
    });
  });
});
input.focus();
