import { button, element } from '../element.ts';
import { resultOf, runBulk, trySample, type BulkResult, type Sample, type Span } from './bulk.ts';
import { download } from './download.ts';
import { choice, field, openDialog, replaceContent, show } from './parts.ts';
import type { Session } from './session.ts';
import { fieldValue, isoOf } from './time.ts';

const number = (value: number): string => value.toLocaleString();
const webhooks = (count: number): string => (count === 1 ? '1 webhook' : `${number(count)} webhooks`);
const line = (text: string) => element('p', {}, text);

/** What the dry run found, for a person who decides whether to go on. */
const forecast = ({ visited, accepted, failed }: BulkResult, sample: Sample | undefined): HTMLElement => {
  const note = element('div', { class: 'note' }, element('h3', {}, 'Dry run'));
  if (sample === undefined) {
    note.append(line(`${webhooks(visited)} refused; ${number(accepted)} would be accepted now.`));
    if (failed > 0)
      note.append(line(`${number(failed)} cannot be verified, because their addresses cannot be decrypted.`));
    return note;
  }
  note.append(line(`${webhooks(visited)} would be processed again.`));
  if (sample.size === 0) return note;
  const tried = sample.size === visited ? 'Tried all of them' : `Tried the newest ${sample.size}`;
  note.append(
    line(`${tried}: ${sample.changed} would change records, ${sample.unchanged} would change nothing.`),
  );
  for (const [error, count] of sample.errors)
    note.append(element('p', { class: 'error' }, `${count} would fail: ${error}`));
  return note;
};

const finished = (span: Span, { visited, accepted }: BulkResult, isStopped: boolean): string => {
  const ending = isStopped ? ' Stopped; the others are as before.' : '';
  return span.status === 'refused'
    ? `${number(accepted)} of ${webhooks(visited)} were accepted and will be processed.${ending}`
    : `${webhooks(accepted)} will be processed again.${ending}`;
};

/** The run itself: its progress, a button that stops it, and its result. It also stops when its dialog is closed. */
const run = async (session: Session, span: Span, total: number, target: HTMLElement): Promise<void> => {
  const since = session.serverTime().toISOString();
  await show(target, async () => {
    let isStopped = false;
    const bar = element('progress', { max: String(total), value: '0', 'aria-label': 'Progress' });
    const text = line(`0 of ${number(total)}`);
    const stop = button('Stop', 'quiet', () => (isStopped = true));
    replaceContent(target, element('div', { class: 'note progress' }, bar, text, stop));
    const sums = await runBulk(
      session,
      span,
      false,
      ({ visited }) => {
        bar.value = visited;
        text.textContent = `${number(visited)} of ${number(total)}`;
      },
      () => isStopped || !target.isConnected,
    );
    const saved = element('p', { role: 'status' });
    const save = button('Download result', 'quiet', () => {
      void show(saved, async () => {
        const result = await resultOf(session, span, since);
        download(`replay-${since.slice(0, 10)}.csv`, new Blob([result], { type: 'text/csv' }));
        return 'The file has the present state of each webhook. Download it again when all are processed.';
      });
    });
    return element('div', { class: 'note' }, line(finished(span, sums, isStopped)), save, saved);
  });
};

/**
 * Replays the webhooks of a store in a span of time, or verifies refused ones again: first a dry run that counts them,
 * then a confirmation, then the progress and the result.
 */
export const replaySpan = (
  session: Session,
  events: string,
  storeName: string,
  { from = '', to = '', status: given = '' }: { from?: string; to?: string; status?: string },
  reload: () => void,
): void => {
  const time = (name: string, value: string) =>
    element('input', { type: 'datetime-local', required: '', value: fieldValue(value), id: `span-${name}` });
  const [begin, end] = [time('from', from), time('to', to)];
  const status = choice([
    ['failed', 'failed'],
    ['done', 'done'],
    ['ignored', 'ignored'],
    ['refused', 'refused: verify again'],
  ]);
  status.id = 'span-status';
  if (given !== '') status.value = given;
  if (status.selectedIndex < 0) status.selectedIndex = 0;
  const result = element('div', { role: 'status' });
  const form = element(
    'form',
    { class: 'stack' },
    field('Received from', begin),
    field('Received before', end),
    field('With the status', status),
    element('div', { class: 'actions' }, element('button', { type: 'submit' }, 'Dry run')),
  );
  // A confirmation is for the span that was counted.
  form.addEventListener('input', () => result.replaceChildren());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const span = { events, from: isoOf(begin.value), to: isoOf(end.value), status: status.value };
    void show(result, async () => {
      const isRecheck = span.status === 'refused';
      const counted = await runBulk(session, span, true);
      const sample = isRecheck ? undefined : await trySample(session, span);
      const note = forecast(counted, sample);
      const wanted = isRecheck ? counted.accepted : counted.visited;
      if (wanted > 0) {
        const confirm = button(`${isRecheck ? 'Recheck' : 'Replay'} ${webhooks(wanted)}`, 'danger', () => {
          void run(session, span, counted.visited, result).then(() => reload());
        });
        note.append(element('div', { class: 'actions' }, confirm));
      }
      return note;
    });
  });
  openDialog(`Replay many · ${storeName}`, [form, result]);
};
