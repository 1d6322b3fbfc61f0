import { useSignal } from '@preact/signals';
import {
  resultOf,
  runBulk,
  startOfSpan,
  trySample,
  type BulkProgress,
  type Sample,
  type Span,
} from './bulk.ts';
import { Action, Shown, readAgain, useContent, type Load } from './content.tsx';
import { Choice, Dialog, Input, button, enteredIn } from './parts.tsx';
import { download } from '../element.ts';
import { useSession } from './session.ts';
import { counted } from './text.ts';
import { fieldValue, isoOf } from './time.ts';

const number = (value: number): string => value.toLocaleString();
const webhooks = (count: number): string => counted(count, 'webhook');

/** What the dry run found, for a person who decides whether to go on. */
const forecast = ({ visited, accepted, failed }: BulkProgress, sample: Sample | undefined) => {
  if (sample === undefined)
    return (
      <>
        <p>{`${webhooks(visited)} refused; ${number(accepted)} would be accepted now.`}</p>
        {failed > 0 && (
          <p>{`${number(failed)} cannot be verified, because their addresses cannot be decrypted.`}</p>
        )}
      </>
    );
  const tried = sample.size === visited ? 'Tried all of them' : `Tried the newest ${sample.size}`;
  return (
    <>
      <p>{webhooks(visited)} would be processed again.</p>
      {sample.size > 0 && (
        <p>{`${tried}: ${sample.changed} would change records, ${sample.unchanged} would change nothing.`}</p>
      )}
      {[...sample.errors].map(([error, count]) => (
        <p key={error} class="error">{`${count} would fail: ${error}`}</p>
      ))}
    </>
  );
};

const finished = (span: Span, { visited, accepted }: BulkProgress, isStopped: boolean): string => {
  const ending = isStopped ? ' Stopped; the others are as before.' : '';
  return span.status === 'refused'
    ? `${number(accepted)} of ${webhooks(visited)} were accepted and will be processed.${ending}`
    : `${webhooks(accepted)} will be processed again.${ending}`;
};

const statuses = [
  ['failed', 'failed'],
  ['done', 'done'],
  ['ignored', 'ignored'],
  ['refused', 'refused: verify again'],
] as const;

interface Replayed {
  /** Path of the list of webhooks of the store. */
  events: string;
  storeName: string;
  initial: { from?: string; to?: string; status?: string };
  closed: () => void;
}

/**
 * Replays the webhooks of a store in a span of time, or verifies refused ones again: first a dry run that counts them,
 * then a confirmation, then the progress and the result.
 */
export const ReplaySpan = ({ events, storeName, initial, closed }: Replayed) => {
  const session = useSession();
  const result = useContent();
  /** A run that goes on must stay in view, with its button. */
  const isRunning = useSignal(false);
  /** The run itself: its progress, a button that stops it, and its result. It also stops when the dialog is closed. */
  const run = (span: Span, total: number): Load => {
    const since = session.serverTime().toISOString();
    const progress = startOfSpan();
    return async (tell) => {
      let isStopped = false;
      const report = ({ visited }: Pick<BulkProgress, 'visited'>): void =>
        tell(
          <div class="note progress">
            <progress max={total} value={visited} aria-label="Progress" />
            <p>{`${number(visited)} of ${number(total)}`}</p>
            {button('Stop', () => (isStopped = true), 'quiet')}
          </div>,
        );
      report(progress);
      isRunning.value = true;
      try {
        await runBulk(session, span, false, { progress, report, stop: () => isStopped || !result.isOpen() });
      } finally {
        isRunning.value = false;
      }
      const save: Load = async () => {
        const file = await resultOf(session, span, since);
        download(`replay-${since.slice(0, 10)}.csv`, new Blob([file], { type: 'text/csv' }));
        return 'The file has the present state of each webhook. Download it again when all are processed.';
      };
      return (
        <div class="note">
          <p>{finished(span, progress, isStopped)}</p>
          <Action name="Download result" look="quiet" run={save} />
        </div>
      );
    };
  };
  const dryRun = ({ from = '', to = '', status = '' }: Record<string, string>) =>
    result.show(async () => {
      const span = { events, from: isoOf(from), to: isoOf(to), status };
      const isRecheck = status === 'refused';
      const counted = await runBulk(session, span, true);
      const sample = isRecheck ? undefined : await trySample(session, span);
      const wanted = isRecheck ? counted.accepted : counted.visited;
      const confirm = () => result.show(run(span, counted.visited)).then(readAgain);
      return (
        <div class="note">
          <h3>Dry run</h3>
          {forecast(counted, sample)}
          {wanted > 0 && (
            <div class="actions">
              {button(`${isRecheck ? 'Recheck' : 'Replay'} ${webhooks(wanted)}`, confirm, 'danger')}
            </div>
          )}
        </div>
      );
    });
  const time = (name: 'from' | 'to', label: string) => (
    <Input
      label={label}
      id={`span-${name}`}
      name={name}
      type="datetime-local"
      required
      disabled={isRunning}
      defaultValue={fieldValue(initial[name] ?? '')}
    />
  );
  const status = statuses.some(([value]) => value === initial.status) ? initial.status : 'failed';
  return (
    <Dialog title={`Replay many · ${storeName}`} closed={closed}>
      {/* A confirmation is for the span that was counted, so a change removes it. */}
      <form class="stack" onInput={result.clear} onSubmit={(event) => dryRun(enteredIn(event))}>
        {time('from', 'Received from')}
        {time('to', 'Received before')}
        <Choice
          label="With the status"
          id="span-status"
          name="status"
          options={statuses}
          initial={status}
          disabled={isRunning}
        />
        <div class="actions">{button('Dry run', undefined, undefined, { disabled: isRunning })}</div>
      </form>
      <Shown content={result} role="status" />
    </Dialog>
  );
};
