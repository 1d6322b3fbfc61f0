import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

const time = maybe(z.iso.datetime({ offset: true }));

const inquiryAttributes = z.looseObject({
  status: words(100),
  'reference-id': maybe(identifier()),
  'updated-at': time,
});

/** https://docs.withpersona.com/webhooks: a JSON:API event around the inquiry it is about. */
export const webhook = z.looseObject({
  data: z.looseObject({
    attributes: z.looseObject({
      name: words(200),
      'created-at': time,
      payload: z.looseObject({
        data: z.looseObject({ id: identifier(), attributes: inquiryAttributes }),
      }),
    }),
  }),
});

/** Answer of GET /api/v1/inquiries/{id}. */
export const inquiry = z.looseObject({
  data: z.looseObject({ id: identifier(), attributes: inquiryAttributes }),
});
