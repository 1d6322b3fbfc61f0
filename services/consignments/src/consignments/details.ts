import { boundedList } from '@platform/service-kit/bounded-list';
import { collectIssues } from '@platform/service-kit/field-errors';
import { ValidationFailed } from '@platform/service-kit/problem';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { count, countryCode, point, uuid, withoutDefaults } from '../records/schema.ts';

const positive = (description: string) => count(description).min(1);

const Line = z
  .strictObject({
    productId: uuid('Id of an inventory item').nullable().default(null),
    description: text(1, 500).nullable().default(null).meta({ description: 'Description of the goods' }),
    quantity: positive('Number of units, of the inventory item if productId is set'),
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
    count: positive('Number of equal parcels').default(1),
    weightGrams: positive('Weight of one parcel').nullable().default(null),
    lengthMm: positive('Length of one parcel').nullable().default(null),
    widthMm: positive('Width of one parcel').nullable().default(null),
    heightMm: positive('Height of one parcel').nullable().default(null),
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

/** A link that people open, so it must not run a script. */
const trackingUrl = z
  .string()
  .max(1000, { abort: true })
  // Parsing a host with other letters takes milliseconds.
  .regex(/^[!-~]*$/, { error: 'must contain only printable ASCII; write the host in Punycode', abort: true })
  .check(z.url({ protocol: /^https?$/, normalize: true, error: 'must be an http or https address' }));

/** The fields of a consignment that lists leave out. */
export const details = {
  lines: boundedList(Line, 0, 200).default([]),
  parcels: boundedList(Parcel, 0, 100).default([]),
  pickupAddress: Address.nullable().default(null),
  deliveryAddress: Address.nullable().default(null),
  plannedPickupAt: point('Planned time of pickup').nullable().default(null),
  plannedDeliveryAt: point('Planned time of delivery').nullable().default(null),
  deliveredAt: point('Time of delivery').nullable().default(null),
  trackingNumber: text(1, 100).nullable().default(null),
  trackingUrl: trackingUrl.nullable().default(null),
  consigneeId: uuid('Id of the consignee, here or in another system').nullable().default(null),
  supplierId: uuid('Id of the supplier, here or in another system').nullable().default(null),
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
