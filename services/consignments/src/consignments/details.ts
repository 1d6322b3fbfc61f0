import { boundedList } from '@platform/service-kit/bounded-list';
import { collectIssues } from '@platform/service-kit/field-errors';
import { ValidationFailed } from '@platform/service-kit/problem';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { count, countryCode, point, uuid, withoutDefaults } from '../records/schema.ts';

const positive = (description: string) => count(description).min(1);

const Line = z
  .strictObject({
    productId: uuid('The inventory item').nullable().default(null),
    description: text(1, 500).nullable().default(null).meta({ description: 'The goods in words' }),
    quantity: positive('Units, of the inventory item where the line names one'),
    unit: text(1, 20).default('piece'),
  })
  .refine(
    ({ productId, description }) => productId !== null || description !== null,
    'must have a productId or a description',
  )
  .meta({ id: 'ConsignmentLine' });
export type Line = z.output<typeof Line>;

const Parcel = z
  .strictObject({
    count: positive('Parcels of this kind').default(1),
    weightGrams: positive('Weight of one').nullable().default(null),
    lengthMm: positive('Length of one').nullable().default(null),
    widthMm: positive('Width of one').nullable().default(null),
    heightMm: positive('Height of one').nullable().default(null),
  })
  .meta({ id: 'Parcel' });

const address = {
  name: text(1, 200),
  street: text(1, 200),
  postalCode: text(1, 20).nullable().default(null),
  city: text(1, 200),
  countryCode,
};
const Address = z.strictObject(address);
const AddressPatch = z.strictObject(withoutDefaults(address)).partial();

/** People open it, so it must not run a script. */
const trackingUrl = z
  .string()
  .max(1000, { abort: true })
  // To parse a host of other letters takes milliseconds.
  .regex(/^[!-~]*$/, { error: 'must be printable ASCII; hosts in Punycode', abort: true })
  .check(z.url({ protocol: /^https?$/, normalize: true, error: 'must be an http or https address' }));

/** The fields of a consignment that lists leave out. */
export const details = {
  lines: boundedList(Line, 0, 200).default([]),
  parcels: boundedList(Parcel, 0, 100).default([]),
  pickupAddress: Address.nullable().default(null),
  deliveryAddress: Address.nullable().default(null),
  plannedPickupAt: point('When it is to be picked up').nullable().default(null),
  plannedDeliveryAt: point('When it is to be delivered').nullable().default(null),
  deliveredAt: point('When it was delivered').nullable().default(null),
  trackingNumber: text(1, 100).nullable().default(null),
  trackingUrl: trackingUrl.nullable().default(null),
  consigneeId: uuid('The consignee, here or in another system').nullable().default(null),
  supplierId: uuid('The supplier, here or in another system').nullable().default(null),
};
export type Details = { [Name in keyof typeof details]: z.output<(typeof details)[Name]> };

/** A patch merges an address into the stored one (RFC 7396). */
export const patchedAddresses = {
  pickupAddress: AddressPatch.nullable(),
  deliveryAddress: AddressPatch.nullable(),
};

const Addresses = z.object({ pickupAddress: Address.nullable(), deliveryAddress: Address.nullable() });

/** The details after a patch. Throws ValidationFailed for a new address that lacks a field. */
export const mergeDetails = (current: Details, patch: object): Details => {
  const merged = { ...current, ...patch };
  for (const field of ['pickupAddress', 'deliveryAddress'] as const)
    merged[field] &&= { ...current[field], ...merged[field] };
  const { success, data, error } = Addresses.safeParse(merged);
  if (success) return { ...merged, ...data };
  const errors = {};
  collectIssues(errors, error.issues, 'body');
  throw new ValidationFailed(errors);
};
