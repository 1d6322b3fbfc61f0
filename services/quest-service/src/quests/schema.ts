import { skipTakeQuery } from '@platform/pagination/list';
import { etagOf } from '@platform/service-kit/etag';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

/** Any 128 bits in the form of a UUID, as PostgreSQL accepts them. */
export const QuestPath = z.object({
  questId: z.guid('must be a UUID').toLowerCase().meta({
    description: 'Identifier of the quest',
    example: '0198c5a0-7e57-7000-8000-000000000001',
  }),
});

export const QuestInput = z.strictObject({ title: text(1, 500) }).meta({ id: 'QuestInput' });

export const QuestPatch = QuestInput.partial().meta({ id: 'QuestPatch' });

export const Quest = z
  .object({
    questId: z.guid(),
    title: z.string(),
    version: z.string().meta({
      description: 'Opaque; replaced by every write to the quest or its questions. It is the ETag.',
    }),
    questionCount: z.int().min(0),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .meta({ id: 'Quest' });

export const ListQuery = z.strictObject(skipTakeQuery);

/** Clients may keep the answer, but must ask each time whether it is still current. */
export const versionHeaders = (version: string) => ({ ETag: etagOf(version), 'Cache-Control': 'no-cache' });
