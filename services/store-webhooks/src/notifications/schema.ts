import { emailAddress } from '@platform/mail/address';
import { boundedList } from '@platform/service-kit/bounded-list';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { jobStages } from '../providers/records.ts';
import { mailLanguages } from './texts/texts.ts';

/** The kinds of changes that the shop can get mails about. */
export const staffEvents = ['delivery', 'member', 'verification'] as const;

/** Part of a mail header, so it must not contain line breaks. */
const mailName = text(1, 100).refine((name) => !/\p{C}/u.test(name), 'must have no control characters');

const staffFields = {
  email: emailAddress,
  events: boundedList(z.enum(staffEvents), 0, staffEvents.length).meta({
    description: 'Changes that the shop gets mails about; all by default',
  }),
};
const staff = z.strictObject({ ...staffFields, events: staffFields.events.optional() });

const customerFields = {
  enabled: z.boolean().meta({ description: 'Whether customers get mails from the platform' }),
  orderStatuses: boundedList(text(1, 100), 0, 100).meta({
    description: 'Statuses of an order that customers get mails about; all by default',
  }),
  deliveryEvents: boundedList(z.enum(jobStages), 0, jobStages.length).meta({
    description: 'Steps of a delivery that customers get mails about; all by default',
  }),
  language: z.enum(mailLanguages).meta({
    description: 'Language of mails to the shop, and to customers whose own language is not known',
  }),
  replyTo: emailAddress,
  fromName: mailName.meta({ description: 'The name of the sender; the name of the store by default' }),
};
const customers = z
  .strictObject(customerFields)
  .partial()
  .extend({
    enabled: customerFields.enabled.default(false),
    language: customerFields.language.default('en'),
  });

const oldEmail = { description: 'Same as staff.email; use staff.email instead', deprecated: true };

/** Which mails the shop and its customers get. Without `staff` the shop gets none. */
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

const nullablePartial = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  z
    .strictObject(
      Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, field.nullable()])) as {
        [Name in keyof Shape]: z.ZodNullable<Shape[Name]>;
      },
    )
    .partial();

/** A merge patch of `storeNotifications`; null removes an optional field (RFC 7396). */
export const notificationsPatch = z
  .strictObject({
    email: emailAddress.nullable().meta(oldEmail),
    staff: nullablePartial(staffFields).nullable(),
    customers: nullablePartial(customerFields).nullable(),
  })
  .partial()
  .transform(({ email, ...others }) => {
    // A client that sends back what it has read sends both.
    if (email === undefined || others.staff !== undefined) return others;
    return { ...others, staff: email === null ? null : { email } };
  });

/** Notification settings in a response. */
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
