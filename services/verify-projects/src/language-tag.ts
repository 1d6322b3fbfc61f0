import { z } from 'zod';

const canonical = (text: string): string | undefined => {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
};

/** A BCP 47 language tag (RFC 5646) in its canonical case; `EN-us` becomes `en-US`. */
export const languageTag = (description = 'Language as a BCP 47 tag') =>
  z
    .string()
    .max(35)
    .transform((text, context) => {
      const tag = canonical(text);
      if (tag === undefined) {
        context.addIssue('must be a BCP 47 language tag, such as en or pt-BR');
        return z.NEVER;
      }
      return tag;
    })
    .meta({ description, example: 'pt-BR' });
