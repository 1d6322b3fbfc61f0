/** A till nobody has heard of, and where its fields stand. */
export const mapping = {
  order: {
    id: '/ref',
    status: '/state/name',
    total: '/sum',
    currency: '/cur',
    items: '/lines',
    version: '/rev',
  },
  item: { productId: '/sku', productName: '/title', quantity: '/count', price: '/each' },
  member: { id: '/person/no', email: '/person/mail', firstName: '/person/first' },
};

export const order = {
  ref: 77,
  state: { name: 'ready' },
  sum: '12.50',
  cur: 'EUR',
  rev: '2026-01-02T03:04:05Z',
  lines: [{ sku: 'a~/b', title: 'Bread', count: '2', each: 6.25 }],
};

export const member = { person: { no: 'c-9', mail: 'c9@example.test', first: 'Cleo' } };
