import { booleanParameter, skipTakeQuery } from '@platform/pagination/list';
import { boundedList } from '@platform/service-kit/bounded-list';
import { etagOf } from '@platform/service-kit/etag';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { repeated, type Fault } from '../questions/domain.ts';

/** Accepts any 128 bits in the form of a UUID, like PostgreSQL. */
export const QuestPath = z.object({
  questId: z.guid('must be a UUID').toLowerCase().meta({
    description: 'Identifier of the quest',
    example: '0198c5a0-7e57-7000-8000-000000000001',
  }),
});

/** A refinement of a list: adds an issue at `field` for each item that `faultsOf` returns. */
export const each =
  <Item>(field: string, faultsOf: (items: Item[]) => Fault[]) =>
  (items: Item[], context: z.core.$RefinementCtx<Item[]>): void => {
    for (const { index, message } of faultsOf(items))
      context.issues.push({ code: 'custom', input: items, path: [index, field], message });
  };

export const Title = z
  .strictObject({
    languageCode: z
      .string()
      .regex(/^[a-z]{2,3}-(?:[A-Z]{2}|[0-9]{3})$/, 'must be language-REGION, such as en-US')
      .meta({ description: 'BCP 47, language and region' }),
    title: text(1, 2000),
  })
  .meta({ id: 'Title' });

export type Title = z.output<typeof Title>;

/** At least `min` titles, one for each language. */
export const titleList = (min: number) =>
  boundedList(Title, min, 100).superRefine(
    each('languageCode', (items) => repeated(items.map(({ languageCode }) => languageCode))),
  );

/** The fields of a quest that callers write. */
export const questFields = { title: text(1, 500), titles: titleList(0) };

export const QuestInput = z
  .strictObject({
    ...questFields,
    titles: questFields.titles.default([]),
    draft: z.boolean().default(false).meta({ description: 'True: hidden from the public until published' }),
  })
  .meta({ id: 'QuestInput' });

export const QuestPatch = z.strictObject(questFields).partial().meta({ id: 'QuestPatch' });

export const Quest = z
  .object({
    questId: z.guid(),
    title: z.string(),
    titles: z.array(Title).meta({
      description: 'The title in each language; to be published, all texts of the quest need these languages',
    }),
    published: z.boolean(),
    version: z.string().meta({
      description: 'Opaque; replaced by every write to the quest or its questions. It is the ETag.',
    }),
    questionCount: z.int().min(0),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .meta({ id: 'Quest' });

export type Quest = z.output<typeof Quest>;

export const ListQuery = z.strictObject(skipTakeQuery);

export const DraftQuery = z.strictObject({
  draft: booleanParameter('Whether to use the draft of a published quest instead of the quest'),
});

/** Clients may cache the response, but must revalidate it before each use. */
export const versionHeaders = (version: string) => ({ ETag: etagOf(version), 'Cache-Control': 'no-cache' });
