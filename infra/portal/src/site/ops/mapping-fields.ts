import type { Webhooks, WebhooksAnswer } from './api.ts';
import { field, type FieldGroup } from './fields.ts';
import type { Session } from './session.ts';

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
  (recordsOf[event ?? ''] ?? Object.keys(MAPPED_FIELDS)).flatMap((record) => {
    const isRead = ({ name, initial }: { name: string; initial?: string }): boolean =>
      initial !== undefined || mapping[record]?.[name] !== undefined;
    const { read = [], other = [] } = Object.groupBy(MAPPED_FIELDS[record] ?? [], (one) =>
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
export const wholeMapping = ({ kind, mapping = {} }: Provider): object => ({
  kind,
  ...Object.fromEntries(
    Object.entries(MAPPED_FIELDS).map(([record, fields]) => [
      record,
      {
        ...Object.fromEntries(fields.flatMap(({ name, initial }) => (initial ? [[name, initial]] : []))),
        ...mapping[record],
      },
    ]),
  ),
});

/** The POS of a store as it was at a time; undefined when nobody has changed the store since. */
export const posAt = async (session: Session, storeId: string, at: string): Promise<Provider | undefined> => {
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
