import { demoCredentials } from './demo.ts';
import { byId } from './element.ts';
import { createDesk } from './ops/desk.ts';
import { openSession, Refused, type Session } from './ops/session.ts';
import { complaint } from './ops/text.ts';

const gate = byId('gate', HTMLElement);
const desk = byId('desk', HTMLElement);
const input = byId('token', HTMLInputElement);
const problem = byId('gate-error', HTMLElement);

let leave = (): void => {};

/** The next timer a browser takes is at most this long, in ms; a token that lives longer outlives the page's patience. */
const longest = 2 ** 31 - 1;

const enter = (session: Session): void => {
  const { content, end } = createDesk(session, () => leave());
  const left = session.expiresAt ? session.expiresAt.getTime() - Date.now() : longest;
  const expiry = setTimeout(() => leave(), Math.min(left, longest));
  leave = () => {
    clearTimeout(expiry);
    session.close();
    end();
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    desk.replaceChildren();
    desk.hidden = true;
    gate.hidden = false;
    input.focus();
    leave = () => {};
  };
  gate.hidden = true;
  desk.hidden = false;
  desk.replaceChildren(...content);
  desk.querySelector('h1')?.focus();
};

/** Without the scope it is a token all the same; a service that is away is what the person may have come for. */
const isNone = ({ status }: Refused): boolean => status >= 400 && status < 500 && status !== 403;

/** Any service can say whether a token is one; whether its scopes are enough, each view says for itself. */
const tryToken = async (token: string): Promise<void> => {
  problem.textContent = '';
  // What else can never be in a header; a line break from the clipboard is no part of a token.
  if (!/^[\w.-]+$/.test(token)) {
    problem.textContent = 'This is not an access token.';
    return;
  }
  const session = openSession(token);
  try {
    await session.ask(`/docs/ops/summary/${SERVICES[1]?.name ?? ''}`);
  } catch (error) {
    if (!(error instanceof Refused) || isNone(error)) {
      session.close();
      problem.textContent = complaint(error);
      return;
    }
  }
  enter(session);
};

byId('gate-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  const token = input.value.trim();
  input.value = '';
  void tryToken(token);
});

// A page that goes into the browser's memory of pages takes no token along.
addEventListener('pagehide', () => leave());

void demoCredentials().then((demo) => {
  if (!demo) return;
  const use = byId('use-demo', HTMLButtonElement);
  use.hidden = false;
  use.addEventListener('click', () => void tryToken(demo.accessToken));
});
input.focus();
