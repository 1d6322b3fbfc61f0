import { partnerNames, products, warehousePlaces } from './names.ts';

/** The id of record `n` of a table: the same on every machine and after every start. */
const idOf = (table: 'a' | 'b' | 'c' | 'd' | 'e' | 'f', n: number): string =>
  `0198c5a0-7e57-7000-8${table}00-${n.toString(16).padStart(12, '0')}`;

const start = Date.parse('2026-01-05T06:00:00Z');
const minutesAfterStart = (n: number): string => new Date(start + n * 60_000).toISOString();

/** Entry `n`; starts again after the last entry. */
export const pick = <T>(entries: readonly T[], n: number): T => entries[n % entries.length] as T;

const timestamps = (n: number) => ({ created_at: minutesAfterStart(n), updated_at: minutesAfterStart(n) });

export const partners = partnerNames
  .flatMap((names, relationship) => names.map((name) => ({ name, relationship })))
  .map(({ name, relationship }, n) => ({
    id: idOf('a', n),
    code: `P-${String(n + 1).padStart(3, '0')}`,
    name,
    // Some clients are also carriers.
    relationships: relationship === 0 && n % 5 === 4 ? [0, 1] : [relationship],
    status: n % 11 === 10 ? 0 : 1,
    ...timestamps(n),
  }));

export const warehouses = warehousePlaces.map(([code, name, city, country], n) => ({
  id: idOf('b', n),
  code,
  name,
  city,
  country_code: country,
  status: n === 6 ? 0 : 1,
  ...timestamps(n),
}));

/** No other record refers to these two, because examples of the API documents delete them. */
export const unusedPartner = {
  id: idOf('a', 0xff),
  code: 'P-255',
  name: 'Former supplier',
  relationships: [2],
  status: 0,
  ...timestamps(0),
};
export const emptyWarehouse = {
  id: idOf('b', 0xff),
  code: 'EMPTY',
  name: 'Empty hall',
  city: 'Tartu',
  country_code: 'EE',
  status: 0,
  ...timestamps(0),
};

const clients = partners.filter(({ relationships }) => relationships[0] === 0);
const carriers = partners.filter(({ relationships }) => relationships[0] === 1);

/** Every ninth item is out of stock. */
export const inventory = Array.from({ length: 240 }, (_, n) => {
  const [code, description] = pick(products, n);
  const quantity = n % 9 === 4 ? 0 : ((n * 37) % 400) + 1;
  return {
    id: idOf('c', n),
    partner_id: pick(clients, n).id,
    partner_product_id: `${code.toLowerCase()}-${n}`,
    product_code: code,
    description,
    warehouse_id: pick(warehouses, Math.floor(n / products.length)).id,
    quantity,
    reserved: Math.min(quantity, (n * 5) % 20),
    ...timestamps(n),
  };
});

/** The deliveries that brought the stock; an item that is out of stock has no movement. */
export const stockMovements = inventory.flatMap(({ id, quantity, reserved, created_at }, n) =>
  quantity === 0
    ? []
    : [
        {
          id: idOf('e', n),
          inventory_id: id,
          quantity,
          reserved,
          reference: `DN-${String(n + 1).padStart(4, '0')}`,
          reason: 'Delivery',
          created_by: 'demo',
          created_at,
        },
      ],
);

/** The consignment with this number got lost on its way. */
export const lostNumber = 1321;

const total = 2000;

/** The oldest consignments are delivered, the newest are drafts. */
const statusOf = (n: number): number => {
  if (n === lostNumber) return 8;
  if (n % 40 === 13) return 7;
  return n < total * 0.6 ? 6 : Math.max(0, 5 - Math.floor(((n - total * 0.6) / (total * 0.4)) * 6));
};

export const consignments = Array.from({ length: total }, (_, n) => {
  const client = pick(clients, n * 7);
  const status = statusOf(n);
  return {
    id: idOf('d', n),
    consignment_number: `CN-2026-${String(n + 1).padStart(5, '0')}`,
    client_id: client.id,
    client_name: client.name,
    carrier_id: status >= 4 && status !== 7 ? pick(carriers, n).id : null,
    warehouse_id: status === 0 ? null : pick(warehouses, n * 3).id,
    status,
    edi_status: status === 0 ? 0 : n % 50 === 7 ? 4 : Math.min(3, status),
    external_id: n % 4 === 0 ? null : `SAP-${4_000_000 + n * 17}`,
    reference: n % 3 === 0 ? null : `PO ${10_000 + ((n * 7919) % 90_000)}`,
    ...timestamps(n * 45),
  };
});

/** The status history of some consignments. */
export const statusChanges = consignments
  .filter((_, n) => n % 40 === 1)
  .flatMap(({ id, status, created_at }, n) =>
    Array.from({ length: status === 8 ? 6 : status }, (_, step) => ({
      id: idOf('f', n * 10 + step),
      consignment_id: id,
      from_status: step,
      to_status: status === 8 && step === 5 ? 8 : step + 1,
      forced: false,
      reason: status === 8 && step === 5 ? 'Stolen on the way' : null,
      created_by: 'demo',
      created_at: new Date(Date.parse(created_at) + (step + 1) * 3_600_000).toISOString(),
    })),
  );
