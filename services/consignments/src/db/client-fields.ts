import postgres from 'postgres';

/** The field of a record that names its client, by list; a warehouse belongs to no client. */
export const clientFields: Readonly<Record<string, { field: string; name: string }>> = {
  consignments: { field: 'clientId', name: 'consignment' },
  inventory: { field: 'partnerId', name: 'inventory item' },
  partners: { field: 'id', name: 'partner' },
};

/** The column that names the client of a record; undefined for warehouses. */
export const clientColumnOf = (list: string): string | undefined => {
  const field = clientFields[list]?.field;
  return field && postgres.fromCamel(field);
};
