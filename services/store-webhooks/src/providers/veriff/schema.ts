import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

/** https://devdocs.veriff.com/docs/decision-webhook */
export const decision = z.looseObject({
  verification: z.looseObject({
    id: identifier(),
    code: z.int(),
    status: maybe(words(100)),
    vendorData: maybe(identifier()),
    decisionTime: maybe(z.iso.datetime({ offset: true })),
  }),
});

/** https://devdocs.veriff.com/docs/event-webhook: the person started, or handed everything in. */
export const progress = z.looseObject({
  id: identifier(),
  code: z.int(),
  action: words(100),
  vendorData: maybe(identifier()),
});
