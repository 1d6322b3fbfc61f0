import { useSignal } from '@preact/signals';
import {
  exportResult,
  runBulk,
  initialProgress,
  dryRunSample,
  type BulkProgress,
  type Sample,
  type Span,
} from './bulk.ts';
import { Action, ContentView, refreshAll, useContent, type Load } from './content.tsx';
import { Choice, Dialog, Input, button, formValues } from './parts.tsx';
import { download } from '../element.ts';
import { useSession } from './session.ts';
import { counted } from './text.ts';
import { fieldValue, isoOf } from './time.ts';

const number = (value: number): string => value.toLocaleString();
const webhooks = (count: number): string => counted(count, 'webhook');

/** The result of a dry run, with `sample` for a replay. */
const dryRunText = ({ visited, accepted, failed }: BulkProgress, sample: Sample | undefined) => {
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

const resultText = ({ status }: Span, { visited, accepted }: BulkProgress): string =>
  status === 'refused'
    ? `${number(accepted)} of ${webhooks(visited)} were accepted and will be processed.`
    : `${webhooks(accepted)} will be processed again.`;

const statuses = [
  ['failed', 'failed'],
  ['done', 'done'],
  ['ignored', 'ignored'],
  ['refused', 'refused: recheck'],
] as const;

interface ReplaySpanProps {
  /** Path of the list of webhooks of the store. */
  events: string;
  storeName: string;
  initial: { from?: string; to?: string; status?: string };
  onClose: () => void;
}

/**
 * A dialog that replays the webhooks of a store in a span of time, or rechecks refused ones: first a dry run that counts
 * them, then a confirmation, then the progress and the result.
 */
export const ReplaySpan = ({ events, storeName, initial, onClose }: ReplaySpanProps) => {
  const session = useSession();
  const result = useContent();
  /** Disables the form during a run, so that its progress and its stop button stay visible. */
  const isRunning = useSignal(false);
  /** Runs the replay and shows its progress, a stop button, and its result. Closing the dialog stops it, too. */
  const run = (span: Span, total: number) => {
    const since = session.serverTime().toISOString();
    // Created here, so that the retry button after an error continues from this progress.
    const progress = initialProgress();
    return result.show(async (showMeanwhile) => {
      let isStopped = false;
      const report = ({ visited }: Pick<BulkProgress, 'visited'>): void =>
        showMeanwhile(
          <div class="note progress">
            <progress max={total} value={visited} aria-label="Progress" />
            <p>{`${number(visited)} of ${number(total)}`}</p>
            {button('Stop', () => (isStopped = true), 'quiet')}
          </div>,
        );
      report(progress);
      isRunning.value = true;
      try {
        const shouldStop = (): boolean => isStopped || !result.isOpen();
        await runBulk(session, span, { progress, report, shouldStop });
      } finally {
        isRunning.value = false;
      }
      const save: Load = async () => {
        const file = await exportResult(session, span, since);
        download(`replay-${since.slice(0, 10)}.csv`, new Blob([file], { type: 'text/csv' }));
        return 'The file contains the current state of each webhook. Download it again when all are processed.';
      };
      return (
        <div class="note">
          <p>
            {resultText(span, progress)}
            {isStopped && ' Stopped; the other webhooks are unchanged.'}
          </p>
          <Action name="Download result" cssClass="quiet" run={save} />
        </div>
      );
    });
  };
  const dryRun = ({ from = '', to = '', status = '' }: Record<string, string>) =>
    result.show(async () => {
      const span = { events, from: isoOf(from), to: isoOf(to), status };
      const isRecheck = status === 'refused';
      const totals = await runBulk(session, span, { isDryRun: true });
      const sample = isRecheck ? undefined : await dryRunSample(session, span);
      const selected = isRecheck ? totals.accepted : totals.visited;
      const confirm = () => run(span, totals.visited).then(refreshAll);
      return (
        <div class="note">
          <h3>Dry run</h3>
          {dryRunText(totals, sample)}
          {selected > 0 && (
            <div class="actions">
              {button(`${isRecheck ? 'Recheck' : 'Replay'} ${webhooks(selected)}`, confirm, 'danger')}
            </div>
          )}
        </div>
      );
    });
  const timeField = (name: 'from' | 'to', label: string) => (
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
    <Dialog title={`Replay many · ${storeName}`} onClose={onClose}>
      {/* A confirmation applies only to the counted span, so a change removes it. */}
      <form class="stack" onInput={result.clear} onSubmit={(event) => dryRun(formValues(event))}>
        {timeField('from', 'Received from')}
        {timeField('to', 'Received before')}
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
      <ContentView content={result} role="status" />
    </Dialog>
  );
};
