import { useEffect, useRef } from 'preact/hooks';
import type { Webhooks, WebhooksAnswer } from './api.ts';
import { runBulk } from './bulk.ts';
import { Action, Shown, readAgain, useLoaded, type Load } from './content.tsx';
import { dryRunOf } from './event-parts.tsx';
import { differencesBetween, field, merged, type FieldGroup } from './fields.ts';
import { code } from './parts.tsx';
import { Editable, RecordForm, diff } from './record-form.tsx';
import { useSession, type Session } from './session.ts';
import { eventsOf } from './stores.ts';
import { counted } from './text.ts';

/** The records that each kind of webhook of a POS is mapped to. */
const recordsOf: Readonly<Record<string, readonly string[]>> = {
  order_updated: ['order', 'item'],
  new_member: ['member'],
  member_updated: ['member'],
};

/** Whether a store's mapping decides about a kind of webhook. */
export const isMapped = (event: string): boolean => Object.hasOwn(recordsOf, event);

export type Provider = Omit<Webhooks['Store']['pos'], 'kind'> & { kind: string };

/** The fields of the mapping of a provider: those that are read first, the others folded. */
export const mappingGroups = ({ mapping = {} }: Provider, event?: string): FieldGroup[] =>
  (recordsOf[event ?? ''] ?? Object.keys(CHOICES.mappedFields)).flatMap((record) => {
    const isRead = ({ name, initial }: { name: string; initial?: string }): boolean =>
      initial !== undefined || mapping[record]?.[name] !== undefined;
    const { read = [], other = [] } = Object.groupBy(CHOICES.mappedFields[record] ?? [], (one) =>
      isRead(one) ? 'read' : 'other',
    );
    const group = (title: string, names: typeof read, isFolded: boolean): FieldGroup => ({
      title,
      isFolded,
      fields: names.map(({ name, initial }) =>
        field(`mapping/${record}/${name}`, name, { placeholder: initial }),
      ),
    });
    return [
      group(`Fields of the ${record}`, read, read.length === 0),
      group(`Other fields of the ${record}`, other, true),
    ].filter(({ fields }) => fields.length > 0);
  });

/** A provider's mapping with the pointers of fields that it does not name. */
const wholeMapping = ({ kind, mapping = {} }: Provider): object => ({
  kind,
  ...Object.fromEntries(
    Object.entries(CHOICES.mappedFields).map(([record, fields]) => [
      record,
      {
        ...Object.fromEntries(fields.flatMap(({ name, initial }) => (initial ? [[name, initial]] : []))),
        ...mapping[record],
      },
    ]),
  ),
});

/** The POS of a store as it was at a time; undefined when nobody has changed the store since. */
const posAt = async (session: Session, storeId: string, at: string): Promise<Provider | undefined> => {
  let then: Provider | undefined;
  for (let page = 1; ; page++) {
    const path = `/v1/stores/${encodeURIComponent(storeId)}/changes?page=${page}&limit=200`;
    const answer = await session.ask<WebhooksAnswer<'listStoreChanges'>>(path);
    // The newest come first, so the last of these is the first change since.
    const since = answer.changes.filter(({ changedAt }) => changedAt > at);
    then = (since.at(-1)?.before['pos'] as Provider | undefined) ?? then;
    if (since.length < answer.changes.length || !answer.page.has_more) return then;
  }
};

/** The value at a JSON pointer (RFC 6901). */
const valueAtPointer = (body: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, name) =>
        Object.hasOwn(Object(value), name) ? (value as Record<string, unknown>)[name] : undefined,
      body,
    );

const foundText = (value: unknown) => {
  if (value === undefined) return <span class="error">Not in this body.</span>;
  if (Array.isArray(value)) return `A list of ${value.length}.`;
  return value === '[redacted]' ? 'In this body, masked.' : code(JSON.stringify(value));
};

type Trials = Webhooks['MappingTrials'];

const trialsText = ({ changed, unchanged, errors }: Pick<Trials, 'changed' | 'unchanged' | 'errors'>) => (
  <>
    <p>{`Of all failed webhooks of the POS, ${changed} would change records, ${unchanged} would change nothing.`}</p>
    {errors.map(({ error, count }) => (
      <p key={error} class="error">{`${count} would fail again: ${error}`}</p>
    ))}
  </>
);

/** In what the mapping with which a webhook was processed differs from the one now. */
const MappingThen = ({ storeId, at, now }: { storeId: string; at: string; now: Provider }) => {
  const session = useSession();
  const then = useLoaded(async () => {
    const pos = (await posAt(session, storeId, at)) ?? now;
    const differences = differencesBetween(wholeMapping(pos), wholeMapping(now));
    if (differences.length === 0) return null;
    return (
      <div class="note">
        <p>The mapping has been changed since this webhook was processed.</p>
        {diff(differences, 'The mapping then and now', ['Then', 'Now'])}
      </div>
    );
  }, [at, now]);
  return <Shown content={then} />;
};

interface Mapped {
  event: Webhooks['EventDetail'];
  storeId: string;
}

/** The mapping of a generic POS beside a webhook: edits it, tries it on all failed webhooks, saves it and replays them. */
export const MappingForm = ({ event, storeId }: Mapped) => {
  const session = useSession();
  const events = eventsOf(storeId);
  const isClosed = useRef(false);
  useEffect(() => () => void (isClosed.current = true), []);
  const attempt = async (mapping: unknown, tell: Parameters<Load>[0]) => {
    const own = await session.ask<Webhooks['Replay']>(`${events}/${event.id}/dry-run`, 'POST', { mapping });
    const sums = { tried: 0, changed: 0, unchanged: 0 };
    const errors = new Map<string, number>();
    for (let after: string | null | undefined; after !== null && !isClosed.current;) {
      const body = { mapping, ...(after !== undefined && { after }) };
      const step: Trials = await session.ask(`${events}/dry-run`, 'POST', body);
      for (const name of ['tried', 'changed', 'unchanged'] as const) sums[name] += step[name];
      for (const { error, count } of step.errors) errors.set(error, (errors.get(error) ?? 0) + count);
      after = step.next;
      tell(<p class="note">Tried {counted(sums.tried, 'webhook')} …</p>);
    }
    return (
      <>
        {dryRunOf(own)}
        {trialsText({ ...sums, errors: [...errors].map(([error, count]) => ({ error, count })) })}
      </>
    );
  };
  const replayAll: Load = async (tell) => {
    const to = new Date(session.serverTime().getTime() + 60_000).toISOString();
    const span = { events, from: '1970-01-01T00:00:00.000Z', to, status: 'failed' };
    const report = ({ visited }: { visited: number }): void =>
      tell(<p class="note">{counted(visited, 'webhook')} …</p>);
    const { accepted } = await runBulk(session, span, false, { report, stop: () => isClosed.current });
    readAgain();
    return <p class="note">{counted(accepted, 'webhook')} will be processed again.</p>;
  };
  const savedText = (
    <div class="note">
      <p>Saved. New webhooks are read with this mapping.</p>
      <Action name="Replay all failed webhooks of the store" run={replayAll} />
    </div>
  );
  return (
    <Editable<Webhooks['Store']> path={`/v1/stores/${storeId}`}>
      {({ pos, updatedAt }, send) => {
        if (pos.kind !== 'generic') return null;
        const items = valueAtPointer(event.body, pos.mapping?.['order']?.['items'] ?? '/items');
        const bodyOf = (record = '') => (record === 'item' ? valueAtPointer(items, '/0') : event.body);
        return (
          <section aria-label="Mapping">
            <h3>Mapping</h3>
            {event.finishedAt !== null && updatedAt > event.finishedAt && (
              <MappingThen storeId={storeId} at={event.finishedAt} now={pos} />
            )}
            <RecordForm
              label="Mapping"
              groups={mappingGroups(pos, event.event)}
              record={pos}
              about={({ name, placeholder = '' }, text) => {
                const pointer = text.trim() || placeholder;
                return pointer && foundText(valueAtPointer(bodyOf(name.split('/')[1]), pointer));
              }}
              verb="Save the mapping"
              preview={(patch, tell) => attempt((merged(pos, patch) as Provider).mapping ?? {}, tell)}
              save={(patch) => send('PATCH', { pos: patch }).then(() => savedText)}
            />
          </section>
        );
      }}
    </Editable>
  );
};
