import { emailAddress } from '@platform/mail/address';
import { boundedList } from '@platform/service-kit/bounded-list';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { jobStages } from '../providers/records.ts';
import { mailLanguages } from './texts/texts.ts';

/** The kinds of changes that the shop can be told of. */
export const staffEvents = ['delivery', 'member', 'verification'] as const;

/** In the header of a mail, so without line ends. */
const mailName = text(1, 100).refine((name) => !/\p{C}/u.test(name), 'must have no control characters');

const staffFields = {
  email: emailAddress,
  events: boundedList(z.enum(staffEvents), 0, staffEvents.length).meta({
    description: 'Of what the shop is told; all unless given',
  }),
};
const staff = z.strictObject({ ...staffFields, events: staffFields.events.optional() });

const customerFields = {
  enabled: z.boolean().meta({ description: 'Whether customers get mails of the platform' }),
  orderStatuses: boundedList(text(1, 100), 0, 100).meta({
    description: 'The statuses of an order that customers are told of; all unless given',
  }),
  deliveryEvents: boundedList(z.enum(jobStages), 0, jobStages.length).meta({
    description: 'The steps of a delivery that customers are told of; all unless given',
  }),
  language: z.enum(mailLanguages).meta({
    description: 'Of mails to the shop, and to customers whose own language is not known',
  }),
  replyTo: emailAddress,
  fromName: mailName.meta({ description: 'The name of the sender; the name of the store unless given' }),
};
const customers = z
  .strictObject(customerFields)
  .partial()
  .extend({
    enabled: customerFields.enabled.default(false),
    language: customerFields.language.default('en'),
  });

const oldEmail = { description: 'As staff.email; use that', deprecated: true };

/** Who gets mails of a store. Without `staff` the shop gets none. */
export const storeNotifications = z
  .strictObject({
    email: emailAddress.optional().meta(oldEmail),
    staff: staff.optional(),
    customers: customers.prefault({}),
  })
  .refine(
    ({ email, staff: shop }) => email === undefined || shop === undefined || email === shop.email,
    'must have the same address in email and staff',
  )
  .transform(({ email, ...others }) => ({
    ...others,
    staff: others.staff ?? (email === undefined ? undefined : { email }),
  }))
  .meta({ id: 'NotificationSettings' });

export type NotificationSettings = z.output<typeof storeNotifications>;

const nullable = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  z
    .strictObject(
      Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, field.nullable()])) as {
        [Name in keyof Shape]: z.ZodNullable<Shape[Name]>;
      },
    )
    .partial();

/** As `storeNotifications`; null clears what may be absent (RFC 7396). */
export const notificationsPatch = z
  .strictObject({
    email: emailAddress.nullable().meta(oldEmail),
    staff: nullable(staffFields).nullable(),
    customers: nullable(customerFields).nullable(),
  })
  .partial()
  .transform(({ email, ...others }) => {
    // A representation that was read has both.
    if (email === undefined || others.staff !== undefined) return others;
    return { ...others, staff: email === null ? null : { email } };
  });

/** As they are shown. */
export const NotificationsView = z
  .object({
    email: z
      .string()
      .optional()
      .meta({ ...oldEmail, format: 'email' }),
    staff: staff.nullable(),
    customers,
  })
  .meta({ id: 'ShownNotificationSettings' });
