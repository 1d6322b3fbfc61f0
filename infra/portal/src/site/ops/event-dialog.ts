import { button, element } from '../element.ts';
import type { Webhooks, WebhooksAnswer } from './api.ts';
import { lookOf } from './events-data.ts';
import { guideAddress } from './health-text.ts';
import { aboutLink, findLink } from './links.ts';
import { facts, openDialog, replaceContent, show, state } from './parts.ts';
import type { Session } from './session.ts';
import { isTemporary, pretty } from './text.ts';
import { when } from './time.ts';

const code = (value: unknown) => element('pre', { tabindex: '0' }, pretty(value));

const change = ({ record, before, after }: NonNullable<Webhooks['Replay']['changes']>[number]) =>
  element(
    'li',
    { class: 'change' },
    element('p', {}, before === null ? 'create ' : 'change ', element('code', {}, record)),
    element(
      'div',
      { class: 'sides' },
      before === null ? null : element('div', {}, 'Before', code(before)),
      element('div', {}, 'After', code(after)),
    ),
  );

const outcome = ({ changes = [], notifications = [], error }: Webhooks['Replay']): Node =>
  element(
    'div',
    { class: 'note' },
    element('h3', {}, 'A replay would …'),
    error === undefined ? null : element('p', { class: 'error' }, `fail: ${error}`),
    changes.length === 0 && error === undefined ? element('p', {}, 'change nothing.') : null,
    element('ul', {}, ...changes.map(change)),
    notifications.length === 0 ? null : element('p', {}, `notify: ${notifications.join(', ')}`),
  );

/** The id at the end of an address such as `/v1/stores/S/orders/17` or `…/events?entity=17`. */
const idOfLink = (href: string): string => {
  const { pathname, search } = new URL(href, location.origin);
  const query = new URLSearchParams(search);
  return (
    query.get('entity') ?? query.get('reference') ?? decodeURIComponent(pathname.split('/').at(-1) ?? '')
  );
};

/** Links to what else is known of the records that the event is about. */
const related = ({ links }: Webhooks['EventDetail']): HTMLElement | string => {
  const byId = Map.groupBy(links, ({ href }) => idOfLink(href));
  const entries = [...byId].map(([id, same]) =>
    element('li', {}, findLink(id), ` ${same.map(({ rel }) => rel.replace('-', ' ')).join(', ')}`),
  );
  return entries.length === 0
    ? ''
    : element('div', {}, element('h3', {}, 'Related'), element('ul', {}, ...entries));
};

const known = (name: string, value: string | null) => (value === null ? [] : [[name, value] as const]);

/** What a replay changes: the status and the records that the event is about. */
const outline = (event: Webhooks['EventDetail']): Node =>
  element(
    'div',
    {},
    event.error === null
      ? ''
      : element(
          'p',
          { class: 'note' },
          element('span', { class: 'error' }, event.error),
          ' ',
          element('a', { href: guideAddress('docs/store-webhooks.md#replaying-failed-events') }, 'Guide'),
        ),
    facts([
      ['Status', state(lookOf(event), event.status)],
      ['About', aboutLink(event.entity)],
      ...known('Service', event.service),
      ['Received', when(event.receivedAt)],
      ...known('Finished', event.finishedAt && when(event.finishedAt)),
      ...known('Next attempt', event.nextAttemptAt && when(event.nextAttemptAt)),
      ['Attempts', String(event.attempts)],
      ['Size', `${event.bytes} bytes`],
      ['Request', findLink(event.headers['x-request-id'] ?? null)],
      ['Id', element('code', {}, event.id)],
    ]),
    related(event),
  );

const payload = (event: Webhooks['EventDetail']): Node =>
  element(
    'div',
    {},
    element('h3', {}, 'Body'),
    event.revealed ? '' : element('p', { class: 'note soft' }, 'Masked. Revealing the body is recorded.'),
    code(event.body),
    element('h3', {}, 'Headers'),
    code(event.headers),
  );

/** What a recheck found, by the new status; an accepted webhook is processed then. */
const rechecked: Readonly<Partial<Record<Webhooks['Recheck']['status'], string>>> = {
  failed: 'The signature is valid now, but the body cannot be read.',
  ignored: 'The signature is valid now, but the same webhook was accepted meanwhile.',
  refused: 'The signature is still not valid.',
};

const note = (text: string, isError = false): Node =>
  element('p', { class: isError ? 'note error' : 'note' }, text);

/** How the processing after a replay or a recheck ended. */
const processed = ({ status, error, nextAttemptAt }: Webhooks['EventDetail']): Node => {
  if (status === 'failed') return note(`It failed again: ${error}`, true);
  if (status === 'pending')
    return note(`It failed: ${error} The next attempt is at ${when(nextAttemptAt)}.`, true);
  return note(status === 'ignored' ? `It was ignored: ${error}` : 'It was processed.');
};

const pollMs = 500;

/** Asks until a webhook has been processed; undefined when `target` leaves the page before. */
const untilProcessed = async (
  session: Session,
  path: string,
  target: HTMLElement,
): Promise<Webhooks['EventDetail'] | undefined> => {
  while (target.isConnected) {
    const event = await session.ask<WebhooksAnswer<'getEvent'>>(path).catch((error: unknown) => {
      if (!isTemporary(error)) throw error;
      return undefined;
    });
    if (event && (event.status !== 'pending' || event.error !== null)) return event;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return undefined;
};

/** One webhook: its content and result, revealing its body, and a dry run and a replay, or a recheck of a refused one. */
export const openEvent = (
  session: Session,
  path: string,
  storeName: string,
  changed: () => void,
): HTMLDialogElement => {
  const title = element('span', {}, `Webhook · ${storeName}`);
  const result = element('div', { role: 'status' });
  const body = element('div', { class: 'dialog-body' });
  const about = element('div');
  const scroll = (): void => result.scrollIntoView({ block: 'start' });
  const tell = (load: () => Promise<Node>): void => void show(result, load).then(scroll);
  /** Waits for the result of the processing, then reads the list again. */
  const follow = async (): Promise<Node> => {
    replaceContent(result, note('Waiting for the result …'));
    scroll();
    const event = await untilProcessed(session, path, result);
    changed();
    if (event === undefined) return note('');
    replaceContent(about, outline(event));
    return processed(event);
  };
  const reveal = button('Reveal body', 'quiet', () => {
    // The button disappears, and the focus must not disappear with it.
    body.tabIndex = -1;
    body.focus();
    reveal.hidden = true;
    void load('?reveal=true');
  });
  const dryRun = button('Dry run', 'quiet', () => {
    tell(async () =>
      outcome(await session.ask<WebhooksAnswer<'replayEvent'>>(`${path}/replay?dryRun=true`, 'POST')),
    );
  });
  const recheck = button('Recheck', '', () => {
    tell(async () => {
      const { status } = await session.ask<WebhooksAnswer<'recheckEvent'>>(`${path}/recheck`, 'POST');
      if (status === 'pending') return follow();
      changed();
      return note(rechecked[status] ?? status);
    });
  });
  const sure = button('Replay now', 'danger', () => {
    ask(false);
    replay.focus();
    tell(async () => {
      await session.ask(`${path}/replay`, 'POST');
      return follow();
    });
  });
  const replay = button('Replay …', '', () => {
    ask(true);
    no.focus();
  });
  const no = button('Cancel', 'quiet', () => {
    ask(false);
    replay.focus();
  });
  const ask = (asking: boolean): void => {
    for (const one of [sure, no]) one.hidden = !asking;
    for (const one of [dryRun, replay]) one.hidden = asking;
  };
  const load = (query: string): Promise<void> =>
    show(body, async () => {
      const event = await session.ask<WebhooksAnswer<'getEvent'>>(path + query);
      const isRefused = event.status === 'refused';
      recheck.hidden = !isRefused;
      for (const one of [dryRun, replay]) one.hidden = isRefused;
      title.textContent = `${event.event} · ${storeName}`;
      replaceContent(about, outline(event));
      return element('div', {}, about, payload(event));
    });
  const actions = [reveal, dryRun, recheck, replay, sure, no];
  for (const one of actions.slice(1)) one.hidden = true;
  void load('');
  return openDialog(title, [body, result], actions);
};
