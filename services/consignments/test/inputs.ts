export const ids = {
  client: '0198c5a0-7e57-7000-8000-0000000000c1',
  otherClient: '0198c5a0-7e57-7000-8000-0000000000c2',
  carrier: '0198c5a0-7e57-7000-8000-0000000000a1',
  warehouse: '0198c5a0-7e57-7000-8000-0000000000b1',
  otherWarehouse: '0198c5a0-7e57-7000-8000-0000000000b2',
};

/** The body that creates a record, with `changes`. */
export const consignmentInput = (changes: object = {}) => ({
  consignmentNumber: 'CN-1',
  clientId: ids.client,
  clientName: 'Van Dijk Flowers',
  ...changes,
});

/** The fields of a patch that allow any status. */
export const forced = { force: true, reason: 'A test' };

export const partnerInput = (changes: object = {}) => ({
  code: 'VDF',
  name: 'Van Dijk Flowers',
  relationship: 0,
  ...changes,
});

export const inventoryInput = (changes: object = {}) => ({
  partnerId: ids.client,
  partnerProductId: 'tulip-red-50',
  productCode: 'TUL-R',
  warehouseId: ids.warehouse,
  quantity: 40,
  ...changes,
});

export const warehouseInput = (changes: object = {}) => ({
  code: 'AMS-1',
  name: 'Schiphol South',
  city: 'Amsterdam',
  countryCode: 'NL',
  ...changes,
});
