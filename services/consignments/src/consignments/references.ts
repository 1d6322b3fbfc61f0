import { Problem, ValidationFailed } from '@platform/service-kit/problem';
import type { Line } from './details.ts';
import type { ConsignmentInput, NewConsignment } from './schema.ts';

/** The partners and inventory items that consignments refer to and that exist. */
export interface References {
  /** Names of partners by id. */
  names: ReadonlyMap<string, string>;
  /** Ids of inventory items. */
  products: ReadonlySet<string>;
}

/** Throws a Problem (422) for a line with an inventory item that does not exist. */
export const requireProducts = (lines: readonly Line[], { products }: References): void => {
  const index = lines.findIndex(({ productId }) => productId !== null && !products.has(productId));
  if (index === -1) return;
  const errors = { [`lines.${index}.productId`]: ['must be the id of an inventory item'] };
  const detail = `Line ${index + 1} names an inventory item that does not exist.`;
  throw new Problem({ status: 422, code: 'unknown_product', detail, errors });
};

/**
 * The name of a client: that of the partner with its id, else the name that was sent. Throws a Problem (422) if the partner
 * has another name than was sent.
 */
export const clientNameOf = (
  clientId: string,
  sentName: string | undefined,
  { names }: References,
): string | undefined => {
  const name = names.get(clientId);
  if (name === undefined || sentName === undefined || sentName === name) return name ?? sentName;
  const detail = 'clientId belongs to a partner with another name: leave out clientName, or send that name.';
  throw new Problem({ status: 422, code: 'client_name_mismatch', detail });
};

/** A new consignment with the name of its client. Throws a Problem (422), and ValidationFailed if there is no name. */
export const completeConsignment = (input: ConsignmentInput, references: References): NewConsignment => {
  requireProducts(input.lines, references);
  const clientName = clientNameOf(input.clientId, input.clientName, references);
  if (clientName !== undefined) return { ...input, clientName };
  throw new ValidationFailed({
    clientName: ['is required, because clientId is not the id of a partner'],
  });
};
