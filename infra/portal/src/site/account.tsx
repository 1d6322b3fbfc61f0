import { useSignal } from '@preact/signals';
import { render, type TargetedEvent } from 'preact';
import { requestOf, type Outcome } from './account/requests.ts';
import { texts } from './account/language.ts';
import { byId } from './element.ts';
import { Input, button, enteredIn, takeFocus } from './ops/parts.tsx';

/** The code of the mail, behind `#`. It is taken out of the address and the history; no server has seen it. */
const code = location.hash.slice(1);
if (code !== '') history.replaceState(null, '', location.pathname);
// Another link of a mail that is opened in this tab changes only the fragment.
addEventListener('hashchange', () => location.reload());

const NewPassword = () => {
  const isShown = useSignal(false);
  return (
    <>
      <Input
        label={texts.newPassword}
        name="newPassword"
        {...(isShown.value ? { type: 'text' } : { type: 'password' })}
        autoComplete="new-password"
        aria-describedby="problem"
        required
        ref={takeFocus}
      />
      <label>
        <input type="checkbox" checked={isShown} onChange={() => (isShown.value = !isShown.value)} />{' '}
        {texts.showPassword}
      </label>
    </>
  );
};

const Credentials = () => (
  <>
    <Input
      label={texts.emailAddress}
      name="email"
      type="email"
      autoComplete="username"
      required
      ref={takeFocus}
    />
    <Input
      label={texts.currentPassword}
      name="password"
      type="password"
      autoComplete="current-password"
      aria-describedby="problem"
      required
    />
  </>
);

/** What is entered on each page. */
const fields = { password: <NewPassword />, email: null, deletion: <Credentials /> };

/** A form that sends one request, and shows what came of it. */
const Page = ({ name }: { name: keyof typeof fields }) => {
  const { title, lead, verb, done } = texts[name];
  const isUseless = code === '' && name !== 'deletion';
  const state = useSignal<Outcome>(isUseless ? { problem: texts.noCode, isFinal: true } : {});
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    const entered = enteredIn(event);
    // A second click while the first one is on its way.
    if (state.peek().isSending) return;
    state.value = { isSending: true };
    state.value = await requestOf[name](code, entered);
  };
  const { isSending, problem = '', isFinal, isDone } = state.value;
  return (
    <section class="sign-in" aria-labelledby="heading">
      <h1 id="heading">{title}</h1>
      {isDone || isFinal ? (
        // With the focus, so that it is read out.
        <p class="note" tabIndex={-1} role="status" ref={takeFocus}>
          {isDone ? done : problem}
        </p>
      ) : (
        <>
          <p class="lead">{lead}</p>
          <form onSubmit={(event) => void submit(event)} aria-busy={isSending}>
            {fields[name]}
            <p id="problem" class="error" role="alert">
              {problem}
            </p>
            <p class="actions">{button(verb)}</p>
          </form>
        </>
      )}
    </section>
  );
};

const [, , page = ''] = location.pathname.split('/');
const name = page === 'email' || page === 'deletion' ? page : 'password';
document.title = texts[name].title;
render(<Page name={name} />, byId('content', HTMLElement));
