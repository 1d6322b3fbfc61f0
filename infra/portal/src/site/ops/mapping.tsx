import { useEffect, useRef } from 'preact/hooks';
import type { Webhooks, WebhooksResponse } from './api.ts';
import { runBulk } from './bulk.ts';
import { Action, ContentView, refreshAll, useLoaded, type Load, type ShowMeanwhile } from './content.tsx';
import { dryRunOf } from './event-parts.tsx';
import { applyPatch, differencesBetween, field, type Field, type FieldGroup } from './fields.ts';
import { code } from './parts.tsx';
import { Editable, RecordForm } from './record-form.tsx';
import { diff } from './review.tsx';
import { useSession, type Session } from './session.ts';
import { eventsOf } from './stores.ts';
import { counted } from './text.ts';

/** The records to which each event of a POS is mapped. */
const recordsOf: Readonly<Record<string, readonly string[]>> = {
  order_updated: ['order', 'item'],
  new_member: ['member'],
  member_updated: ['member'],
};

/** Whether the mapping of a store applies to an event. */
export const isMapped = (event: string): boolean => Object.hasOwn(recordsOf, event);

export type Provider = Omit<Webhooks['Store']['pos'], 'kind'> & { kind: string };

/** The fields of a provider's mapping, by record: those with a pointer, and a collapsed group with all other fields. */
export const mappingGroups = ({ mapping = {} }: Provider, event = ''): FieldGroup[] => {
  const records = recordsOf[event] ?? Object.keys(CHOICES.mappedFields);
  const groups = records.flatMap((record) => {
    const mapped: Field[] = [];
    const unmapped: Field[] = [];
    for (const { name, defaultPointer } of CHOICES.mappedFields[record] ?? []) {
      const hasPointer = defaultPointer !== undefined || mapping[record]?.[name] !== undefined;
      const list = hasPointer ? mapped : unmapped;
      list.push(field(`mapping/${record}/${name}`, name, { placeholder: defaultPointer }));
    }
    return [
      { title: `Fields of the ${record}`, fields: mapped },
      { title: `Other fields of the ${record}`, fields: unmapped, isFolded: true },
    ];
  });
  return groups.filter(({ fields }) => fields.length > 0);
};

/** A provider's mapping, completed with the default pointers. */
const completeMapping = ({ kind, mapping = {} }: Provider): object => {
  const complete: Record<string, unknown> = { kind };
  for (const [record, fields] of Object.entries(CHOICES.mappedFields)) {
    const pointers: Record<string, string> = {};
    for (const { name, defaultPointer } of fields) if (defaultPointer) pointers[name] = defaultPointer;
    complete[record] = { ...pointers, ...mapping[record] };
  }
  return complete;
};

/** The POS of a store as it was at a time; undefined if the store has not been changed since. */
const posAt = async (session: Session, storeId: string, at: string): Promise<Provider | undefined> => {
  let posBefore: Provider | undefined;
  for (let page = 1; ; page++) {
    const path = `/v1/stores/${encodeURIComponent(storeId)}/changes?page=${page}&limit=200`;
    const response = await session.ask<WebhooksResponse<'listStoreChanges'>>(path);
    // The newest changes come first, so the last later change is the first one after the time.
    const laterChanges = response.changes.filter(({ changedAt }) => changedAt > at);
    posBefore = (laterChanges.at(-1)?.before['pos'] as Provider | undefined) ?? posBefore;
    if (laterChanges.length < response.changes.length || !response.page.has_more) return posBefore;
  }
};

/** The value at a JSON pointer (RFC 6901). */
const valueAtPointer = (body: unknown, pointer: string): unknown => {
  let value = body;
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    value = Object.hasOwn(Object(value), name) ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
};

const bodyValueText = (value: unknown) => {
  if (value === undefined) return <span class="error">Not in this body.</span>;
  if (Array.isArray(value)) return `A list of ${value.length}.`;
  return value === '[redacted]' ? 'In this body, masked.' : code(JSON.stringify(value));
};

type Trials = Webhooks['MappingTrials'];

const trialsText = ({ changed, unchanged, errors }: Pick<Trials, 'changed' | 'unchanged' | 'errors'>) => (
  <>
    <p>{`Of all failed webhooks of the POS, ${changed} would change records and ${unchanged} would change nothing.`}</p>
    {errors.map(({ error, count }) => (
      <p key={error} class="error">{`${count} would fail again: ${error}`}</p>
    ))}
  </>
);

/** Shows the differences between the mapping with which a webhook was processed and the current one. */
const MappingChanges = ({
  storeId,
  processedAt,
  current,
}: {
  storeId: string;
  processedAt: string;
  current: Provider;
}) => {
  const session = useSession();
  const content = useLoaded(async () => {
    const pos = (await posAt(session, storeId, processedAt)) ?? current;
    const differences = differencesBetween(completeMapping(pos), completeMapping(current));
    if (differences.length === 0) return null;
    return (
      <div class="note">
        <p>The mapping has been changed since this webhook was processed.</p>
        {diff(differences, 'Changes of the mapping', ['Before', 'Now'])}
      </div>
    );
  }, [processedAt, current]);
  return <ContentView content={content} />;
};

type MappingFormProps = { event: Webhooks['EventDetail']; storeId: string };

/** A form for the mapping of a generic POS. It tries a mapping on all failed webhooks, saves it and replays them. */
export const MappingForm = ({ event, storeId }: MappingFormProps) => {
  const session = useSession();
  const events = eventsOf(storeId);
  const isClosed = useRef(false);
  useEffect(() => () => void (isClosed.current = true), []);
  const tryMapping = async (mapping: unknown, showMeanwhile: ShowMeanwhile) => {
    const dryRun = await session.ask<Webhooks['Replay']>(`${events}/${event.id}/dry-run`, 'POST', {
      mapping,
    });
    const totals = { tried: 0, changed: 0, unchanged: 0 };
    const errors = new Map<string, number>();
    let after: string | null | undefined;
    while (after !== null && !isClosed.current) {
      const body = { mapping, ...(after !== undefined && { after }) };
      const step: Trials = await session.ask(`${events}/dry-run`, 'POST', body);
      for (const name of ['tried', 'changed', 'unchanged'] as const) totals[name] += step[name];
      for (const { error, count } of step.errors) errors.set(error, (errors.get(error) ?? 0) + count);
      after = step.next;
      showMeanwhile(<p class="note">Tried {counted(totals.tried, 'webhook')} …</p>);
    }
    return (
      <>
        {dryRunOf(dryRun)}
        {trialsText({ ...totals, errors: [...errors].map(([error, count]) => ({ error, count })) })}
      </>
    );
  };
  const replayAll: Load = async (showMeanwhile) => {
    const to = new Date(session.serverTime().getTime() + 60_000).toISOString();
    const span = { events, from: '1970-01-01T00:00:00.000Z', to, status: 'failed' };
    const report = ({ visited }: { visited: number }): void =>
      showMeanwhile(<p class="note">{counted(visited, 'webhook')} …</p>);
    const { accepted } = await runBulk(session, span, { report, shouldStop: () => isClosed.current });
    refreshAll();
    return <p class="note">{counted(accepted, 'webhook')} will be processed again.</p>;
  };
  const savedText = (
    <div class="note">
      <p>Saved. New webhooks are processed with this mapping.</p>
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
              <MappingChanges storeId={storeId} processedAt={event.finishedAt} current={pos} />
            )}
            <RecordForm
              label="Mapping"
              groups={mappingGroups(pos, event.event)}
              record={pos}
              noteFor={({ name, placeholder = '' }, text) => {
                const pointer = text.trim() || placeholder;
                return pointer && bodyValueText(valueAtPointer(bodyOf(name.split('/')[1]), pointer));
              }}
              verb="Save the mapping"
              preview={(patch, showMeanwhile) =>
                tryMapping((applyPatch(pos, patch) as Provider).mapping ?? {}, showMeanwhile)
              }
              save={(patch) => send('PATCH', { pos: patch }).then(() => savedText)}
            />
          </section>
        );
      }}
    </Editable>
  );
};
