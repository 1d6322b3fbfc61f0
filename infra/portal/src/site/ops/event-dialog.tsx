import { useSignal, type ReadonlySignal } from '@preact/signals';
import type { Webhooks, WebhooksResponse } from './api.ts';
import { ContentView, refreshAll, useContent, useLoaded, type Load } from './content.tsx';
import { Dialog, button, emptyNote, takeFocus } from './parts.tsx';
import { dryRunOf, outlineOf, payloadOf, processedText } from './event-parts.tsx';
import { field } from './fields.ts';
import { MappingForm, isMapped } from './mapping.tsx';
import { addressOf } from './place.ts';
import { RecordForm } from './record-form.tsx';
import { useSession } from './session.ts';
import { eventsOf, everyStore } from './stores.ts';
import { isTemporary } from './text.ts';

type Detail = Webhooks['EventDetail'];

/** Texts for the result of a recheck, by the new status. An accepted webhook is then processed. */
const recheckTexts: Readonly<Partial<Record<Webhooks['Recheck']['status'], string>>> = {
  failed: 'The signature is valid now, but the body cannot be read.',
  ignored: 'The signature is valid now, but the same webhook has already been accepted.',
  refused: 'The signature is still not valid.',
};

const pollMs = 500;

const note = field('note', 'Reason', {
  isRequired: true,
  help: 'Stored with the webhook. A replay is still possible.',
});
const dismissal = [{ title: 'No further action is needed', fields: [note] }];

const settingsLink = (store: string) => (
  <a href={addressOf('settings', { of: 'stores', open: store })}>Settings of the store</a>
);

const Outline = ({ event }: { event: ReadonlySignal<Detail | undefined> }) =>
  event.value && outlineOf(event.value);

/** Buttons for a dry run and for a replay, which the user has to confirm. */
const ReplayButtons = ({ dryRun, replay }: Record<'dryRun' | 'replay', () => unknown>) => {
  /** Undefined before the first click on Replay. */
  const isConfirming = useSignal<boolean>();
  const setConfirming = (isNeeded: boolean): void => void (isConfirming.value = isNeeded);
  const confirm = () => {
    setConfirming(false);
    return replay();
  };
  // After the confirmation its focus moves to the first button.
  const replayAttributes = { key: 'ask', ref: isConfirming.value === false ? takeFocus : null };
  return isConfirming.value ? (
    <>
      {button('Replay now', confirm, 'danger', { key: 'now' })}
      {button('Cancel', () => setConfirming(false), 'quiet', { key: 'cancel', ref: takeFocus })}
    </>
  ) : (
    <>
      {button('Dry run', dryRun, 'quiet', { key: 'dry run' })}
      {button('Replay …', () => setConfirming(true), undefined, replayAttributes)}
    </>
  );
};

interface OpenEvent {
  id: string;
  /** `-` if it is not known. */
  store: string;
  nameOf: (storeId: string) => string;
  onClose: () => void;
}

/** A dialog with one webhook: its content, and buttons that reveal its body and replay (or, if it was refused, recheck) it. */
export const EventDialog = ({ id, store, nameOf, onClose }: OpenEvent) => {
  const session = useSession();
  const mayWrite = session.may('stores:write', 'stores:admin');
  const storeId = useSignal(store);
  const event = useSignal<Detail>();
  const isRevealed = useSignal(false);
  const path = (): string => `${eventsOf(storeId.value)}/${encodeURIComponent(id)}`;
  const read = (query = '') => session.ask<WebhooksResponse<'getEvent'>>(path() + query);
  const findStore = async (): Promise<void> => {
    const list = `${eventsOf(everyStore)}?${new URLSearchParams({ id })}`;
    const { events } = await session.ask<WebhooksResponse<'listEvents'>>(list);
    storeId.value = events[0]?.storeId ?? everyStore;
  };
  const body = useLoaded(async () => {
    if (storeId.value === everyStore) await findStore();
    if (storeId.value === everyStore) return emptyNote('There is no such webhook.');
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

  /** Polls until the webhook has been processed; undefined if the dialog is closed before that. */
  const untilProcessed = async (): Promise<Detail | undefined> => {
    while (result.isOpen()) {
      const current = await read().catch((error: unknown) => {
        if (!isTemporary(error)) throw error;
        return undefined;
      });
      if (current && (current.status !== 'pending' || current.error !== null)) return current;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return undefined;
  };
  /** Waits for the result of the processing and reloads the list. */
  const waitForResult: Load = async (showMeanwhile) => {
    showMeanwhile(<p class="note">Waiting for the result …</p>);
    scroll();
    const processed = await untilProcessed();
    refreshAll();
    if (processed === undefined) return null;
    event.value = processed;
    return processedText(processed);
  };

  const reveal = (): void => {
    isRevealed.value = true;
    // The focused button disappears, so the focus moves to the body.
    body.box.current?.focus();
    body.reload();
  };
  const dryRun = () =>
    show(async () =>
      dryRunOf(await session.ask<WebhooksResponse<'replayEvent'>>(`${path()}/replay?dryRun=true`, 'POST')),
    );
  const recheck = () =>
    show(async (showMeanwhile) => {
      const { status } = await session.ask<WebhooksResponse<'recheckEvent'>>(`${path()}/recheck`, 'POST');
      if (status === 'pending') return waitForResult(showMeanwhile);
      refreshAll();
      return <p class="note">{recheckTexts[status] ?? status}</p>;
    });
  const replay = () =>
    show(async (showMeanwhile) => {
      await session.ask(`${path()}/replay`, 'POST');
      return waitForResult(showMeanwhile);
    });

  const saveDismissal = async (values: object) => {
    await session.ask(`${path()}/dismiss`, 'POST', values);
    event.value = await read();
    return <p class="note">Dismissed.</p>;
  };
  const dismiss = () =>
    show(async () => (
      <RecordForm label="Dismissal" groups={dismissal} record={{}} verb="Dismiss" save={saveDismissal} />
    ));

  const actions = (
    <>
      {event.value && session.may('stores:read') && settingsLink(storeId.value)}
      {event.value?.status === 'failed' && mayWrite && button('Dismiss …', dismiss, 'quiet')}
      {!isRevealed.value &&
        session.may('events:reveal', 'stores:admin') &&
        button('Reveal body', reveal, 'quiet')}
      {event.value &&
        mayWrite &&
        (event.value.status === 'refused' ? (
          button('Recheck', recheck)
        ) : (
          <ReplayButtons dryRun={dryRun} replay={replay} />
        ))}
    </>
  );
  return (
    <Dialog
      title={`${event.value?.event ?? 'Webhook'} · ${nameOf(storeId.value)}`}
      actions={actions}
      onClose={onClose}
    >
      <ContentView content={body} class="dialog-body" tabIndex={-1} />
      <ContentView content={result} role="status" />
    </Dialog>
  );
};
