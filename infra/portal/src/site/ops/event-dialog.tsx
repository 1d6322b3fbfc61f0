import { useSignal, type ReadonlySignal } from '@preact/signals';
import type { Webhooks, WebhooksAnswer } from './api.ts';
import { Shown, readAgain, useContent, useLoaded, type Load } from './content.tsx';
import { Dialog, button, nothing, takeFocus } from './parts.tsx';
import { dryRunOf, outlineOf, payloadOf, processedText } from './event-parts.tsx';
import { field } from './fields.ts';
import { MappingForm, isMapped } from './mapping.tsx';
import { addressOf } from './place.ts';
import { RecordForm } from './record-form.tsx';
import { useSession } from './session.ts';
import { eventsOf, everyStore } from './stores.ts';
import { isTemporary } from './text.ts';

type Detail = Webhooks['EventDetail'];

/** What a recheck found, by the new status; an accepted webhook is processed then. */
const rechecked: Readonly<Partial<Record<Webhooks['Recheck']['status'], string>>> = {
  failed: 'The signature is valid now, but the body cannot be read.',
  ignored: 'The signature is valid now, but the same webhook was accepted meanwhile.',
  refused: 'The signature is still not valid.',
};

const pollMs = 500;

const note = field('note', 'Why', {
  isRequired: true,
  help: 'Is kept with the webhook. A replay stays possible.',
});
const dismissal = [{ title: 'Nothing more is to be done', fields: [note] }];

const settingsLink = (store: string) => (
  <a href={addressOf('settings', { of: 'stores', open: store })}>Settings of the store</a>
);

const Outline = ({ event }: { event: ReadonlySignal<Detail | undefined> }) =>
  event.value && outlineOf(event.value);

interface OpenEvent {
  id: string;
  /** `-` when it is not known. */
  store: string;
  nameOf: (storeId: string) => string;
  closed: () => void;
}

/** One webhook: its content and result, revealing its body, and a dry run and a replay, or a recheck of a refused one. */
export const EventDialog = ({ id, store, nameOf, closed }: OpenEvent) => {
  const session = useSession();
  const mayWrite = session.may('stores:write', 'stores:admin');
  const storeId = useSignal(store);
  const event = useSignal<Detail>();
  const isRevealed = useSignal(false);
  /** Undefined until somebody asks for a replay. */
  const isAsking = useSignal<boolean>();
  const path = (): string => `${eventsOf(storeId.value)}/${encodeURIComponent(id)}`;
  const read = (query = '') => session.ask<WebhooksAnswer<'getEvent'>>(path() + query);
  const lookUp = async (): Promise<void> => {
    const list = `${eventsOf(everyStore)}?${new URLSearchParams({ id })}`;
    const { events } = await session.ask<WebhooksAnswer<'listEvents'>>(list);
    storeId.value = events[0]?.storeId ?? everyStore;
  };
  const body = useLoaded(async () => {
    if (storeId.value === everyStore) await lookUp();
    if (storeId.value === everyStore) return nothing('There is no such webhook.');
    event.value = await read(isRevealed.value ? '?reveal=true' : '');
    return (
      <>
        <Outline event={event} />
        <div class="beside">
          {payloadOf(event.value)}
          {isMapped(event.value.event) && session.may('stores:admin') && (
            <MappingForm event={event.value} storeId={storeId.value} />
          )}
        </div>
      </>
    );
  }, []);
  const result = useContent();
  const scroll = (): void => result.box.current?.scrollIntoView({ block: 'start' });
  const show = (load: Load) => result.show(load).then(scroll);

  /** Asks until the webhook has been processed; undefined when the dialog is closed before. */
  const untilProcessed = async (): Promise<Detail | undefined> => {
    while (result.isOpen()) {
      const now = await read().catch((error: unknown) => {
        if (!isTemporary(error)) throw error;
        return undefined;
      });
      if (now && (now.status !== 'pending' || now.error !== null)) return now;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return undefined;
  };
  /** Waits for the result of the processing, then has the list read again. */
  const follow: Load = async (tell) => {
    tell(<p class="note">Waiting for the result …</p>);
    scroll();
    const processed = await untilProcessed();
    readAgain();
    if (processed === undefined) return null;
    event.value = processed;
    return processedText(processed);
  };

  const reveal = (): void => {
    isRevealed.value = true;
    // The button disappears, and the focus must not disappear with it.
    body.box.current?.focus();
    body.reload();
  };
  const dryRun = () =>
    show(async () =>
      dryRunOf(await session.ask<WebhooksAnswer<'replayEvent'>>(`${path()}/replay?dryRun=true`, 'POST')),
    );
  const recheck = () =>
    show(async (tell) => {
      const { status } = await session.ask<WebhooksAnswer<'recheckEvent'>>(`${path()}/recheck`, 'POST');
      if (status === 'pending') return follow(tell);
      readAgain();
      return <p class="note">{rechecked[status] ?? status}</p>;
    });
  const ask = (isAsked: boolean) => (): void => {
    isAsking.value = isAsked;
  };
  const replay = () => {
    isAsking.value = false;
    return show(async (tell) => {
      await session.ask(`${path()}/replay`, 'POST');
      return follow(tell);
    });
  };

  const saveDismissal = async (entered: object) => {
    await session.ask(`${path()}/dismiss`, 'POST', entered);
    event.value = await read();
    return <p class="note">Dismissed.</p>;
  };
  const dismiss = () =>
    show(async () => (
      <RecordForm label="Dismissal" groups={dismissal} record={{}} verb="Dismiss" save={saveDismissal} />
    ));

  const returned = { key: 'ask', ref: isAsking.value === false ? takeFocus : null };
  const replayButtons = isAsking.value
    ? [
        button('Replay now', replay, 'danger', { key: 'now' }),
        button('Cancel', ask(false), 'quiet', { key: 'cancel', ref: takeFocus }),
      ]
    : [
        button('Dry run', dryRun, 'quiet', { key: 'dry run' }),
        button('Replay …', ask(true), undefined, returned),
      ];
  const actions = (
    <>
      {event.value && session.may('stores:read') && settingsLink(storeId.value)}
      {event.value?.status === 'failed' && mayWrite && button('Dismiss …', dismiss, 'quiet')}
      {!isRevealed.value &&
        session.may('events:reveal', 'stores:admin') &&
        button('Reveal body', reveal, 'quiet')}
      {event.value &&
        mayWrite &&
        (event.value.status === 'refused' ? button('Recheck', recheck) : replayButtons)}
    </>
  );
  return (
    <Dialog
      title={`${event.value?.event ?? 'Webhook'} · ${nameOf(storeId.value)}`}
      actions={actions}
      closed={closed}
    >
      <Shown content={body} class="dialog-body" tabIndex={-1} />
      <Shown content={result} role="status" />
    </Dialog>
  );
};
