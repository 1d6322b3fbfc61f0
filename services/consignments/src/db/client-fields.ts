/** The client of a record: a field, a query parameter and a column. */
interface ClientField {
  field: string;
  filter: string;
  column: string;
  /** Name of the record in error messages. */
  name: string;
}

/** The client of a record, by list; a warehouse has no client. */
export const clientFields: Readonly<Record<string, ClientField>> = {
  consignments: { field: 'clientId', filter: 'ClientId', column: 'client_id', name: 'consignment' },
  inventory: { field: 'partnerId', filter: 'PartnerId', column: 'partner_id', name: 'inventory item' },
  partners: { field: 'id', filter: 'Id', column: 'id', name: 'partner' },
};
