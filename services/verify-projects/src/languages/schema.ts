import { pageLimitBody } from '@platform/pagination/list';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { directions } from '../db/tables.ts';
import { languageTag } from '../language-tag.ts';

const direction = z.enum(directions);

export const LanguagePath = z.strictObject({ code: languageTag() });

export const LanguageInput = z
  .strictObject({ name: text(1, 100), native_name: text(1, 100), direction })
  .meta({ id: 'LanguageInput' });

export const Language = z
  .object({ code: z.string(), name: z.string(), native_name: z.string(), direction })
  .meta({ id: 'Language' });
export type Language = z.output<typeof Language>;

export const LanguageList = pageLimitBody('languages', Language).meta({ id: 'LanguageList' });
