import { element } from '../element.ts';
import { choice, field, openDialog, show } from './parts.ts';
import type { Session } from './session.ts';
import { fieldValue, isoOf } from './time.ts';

/** Replays the webhooks of a store in a span of time, after a confirmation. */
export const replaySpan = (
  session: Session,
  events: string,
  { from = '', to = '' }: { from?: string; to?: string },
  done: () => void,
): void => {
  const begin = element('input', {
    type: 'datetime-local',
    required: '',
    value: fieldValue(from),
    id: 'span-from',
  });
  const end = element('input', {
    type: 'datetime-local',
    required: '',
    value: fieldValue(to),
    id: 'span-to',
  });
  const status = choice([
    ['failed', 'failed'],
    ['done', 'done'],
    ['ignored', 'ignored'],
  ]);
  status.id = 'span-status';
  const consent = element('input', { type: 'checkbox', required: '', id: 'span-consent' });
  const result = element('div', { role: 'status' });
  const form = element(
    'form',
    { class: 'stack' },
    field('Received from', begin),
    field('Received before', end),
    field('With the status', status),
    element(
      'div',
      { class: 'consent' },
      consent,
      element('label', { for: 'span-consent' }, 'Process all of them again'),
    ),
    element(
      'div',
      { class: 'actions' },
      element('button', { type: 'submit', class: 'danger' }, 'Replay now'),
    ),
    result,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const span = { from: isoOf(begin.value), to: isoOf(end.value) };
    consent.checked = false;
    void show(result, async () => {
      const path = `${events}/replay`;
      const { replayed } = await session.ask<{ replayed: number }>(path, 'POST', {
        ...span,
        status: status.value,
      });
      done();
      return element('p', { class: 'note' }, `${replayed} will be processed again.`);
    });
  });
  openDialog('Replay many', [form]);
};
