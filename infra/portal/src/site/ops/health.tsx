import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { usePolling } from './content.tsx';
import { entriesOf, headline, itemLook, lookOf, servicesText, type Entry } from './health-entries.ts';
import { createHealthReader, readReadiness, readiness, type Values } from './health-data.ts';
import { items } from './health-items.ts';
import { guideAddress } from './text.ts';
import { state } from './parts.tsx';
import { useSession } from './session.ts';
import { when } from './time.ts';

const refreshMs = 15_000;

/** Readiness is asked more often, because it is cheap and shows an outage first. */
const watchMs = 3000;

const AlertEntry = ({ entry }: { entry: Entry }) => {
  const { alert, isUrgent, summary, action, guide, services, since, item } = entry;
  const details = [alert, servicesText(services), since === undefined ? '' : `since ${when(since)}`];
  return (
    <li>
      <p class="alert-head">
        {state(lookOf(entry), isUrgent ? 'urgent' : 'not urgent')}
        <strong>{summary}</strong>
      </p>
      <p>
        {action}{' '}
        {item?.href.startsWith('#') && (
          <>
            <a href={item.href}>Show “{item.name}”</a>{' '}
          </>
        )}
        <a href={guideAddress(guide)}>Guide</a>
      </p>
      <p class="soft">{details.filter((text) => text !== '').join(' · ')}</p>
    </li>
  );
};

/** What gateway, services and Prometheus say, read again and again; undefined before they were read once. */
const useValues = (): Values | undefined => {
  const session = useSession();
  const values = useSignal<Values>();
  const read = useMemo(() => createHealthReader(session), [session]);
  const reading = useRef({ isRunning: false, endedAt: -refreshMs });
  /** In an outage this takes longer than the pause between two looks at the readiness. */
  const readValues = async (): Promise<void> => {
    if (reading.current.isRunning) return;
    reading.current.isRunning = true;
    values.value = await read();
    reading.current = { isRunning: false, endedAt: performance.now() };
  };
  /** Shows at once that a service became ready or not ready, and reads everything then or when it is time. */
  usePolling(async () => {
    const now = await readReadiness();
    const hasChanged = JSON.stringify(now) !== JSON.stringify(readiness.value);
    if (hasChanged) readiness.value = now;
    if (hasChanged || performance.now() - reading.current.endedAt >= refreshMs) void readValues();
  }, watchMs);
  // Of the session before it may be old.
  useEffect(() => () => void (readiness.value = []), []);
  return values.value;
};

/** The state of the platform in one line, which opens: values, and the alerts with what to do. */
export const HealthStrip = () => {
  const values = useValues();
  const health = values && { ...values, readiness: readiness.value };
  const entries = health ? entriesOf(health) : [];
  const { text, look } = headline(readiness.value, values, entries);
  return (
    <section class="strip" aria-label="Health">
      <details data-state={look}>
        <summary>{text}</summary>
        <ul class="chips">
          {items.map((item) => (
            <li key={item.name}>
              <a href={item.href} data-state={health ? itemLook(item, health, entries) : 'plain'}>
                <span>{item.name}</span>
                <strong>{health ? (item.text(health) ?? '–') : '…'}</strong>
              </a>
            </li>
          ))}
        </ul>
        <ul class="alerts">
          {entries.map((entry) => (
            <AlertEntry key={entry.alert} entry={entry} />
          ))}
        </ul>
      </details>
    </section>
  );
};
