import { partnerNames, products, warehousePlaces } from './names.ts';
import { consignments, inventory, partners, pick } from './rows.ts';

const hour = 3_600_000;

const consignees = partners.filter(({ relationships }) => relationships[0] === 3);
const suppliers = partners.filter(({ relationships }) => relationships[0] === 2);

/** Lines, parcels, addresses, times and tracking of every tenth consignment. */
export const consignmentDetails = consignments.flatMap(({ id, client_id, status, created_at }, n) => {
  if (n % 10 !== 0) return [];
  const at = (hours: number): string => new Date(Date.parse(created_at) + hours * hour).toISOString();
  const item = pick(
    inventory.filter(({ partner_id }) => partner_id === client_id),
    n / 10,
  );
  const [, place, city, countryCode] = pick(warehousePlaces, n * 3);
  const consignee = pick(consignees, n / 10);
  const supplierId = pick(suppliers, n / 10).id;
  const trackingNumber = status >= 4 && status < 7 ? `TR${1_000_000 + n}` : null;
  const details = {
    lines: [
      { productId: item.id, description: item.description, quantity: (n % 7) + 1, unit: 'piece' },
      { productId: null, description: pick(products, n)[1], quantity: 1, unit: 'box' },
    ],
    parcels: [{ count: 2, weightGrams: 1500 + n, lengthMm: 400, widthMm: 300, heightMm: 200 }],
    pickupAddress: { name: place, street: 'Dock 4', postalCode: null, city, countryCode },
    deliveryAddress: {
      name: consignee.name,
      street: 'Main Street 1',
      postalCode: '1000',
      city: pick(partnerNames[3] ?? [], n / 10)
        .split(' ')
        .at(-1),
      countryCode: pick(['PT', 'NO', 'BE', 'DE'], n / 10),
    },
    plannedPickupAt: at(26),
    plannedDeliveryAt: at(74),
    deliveredAt: status === 6 ? at(73) : null,
    trackingNumber,
    trackingUrl: trackingNumber && `https://tracking.example.test/${trackingNumber}`,
    consigneeId: consignee.id,
    supplierId,
  };
  return [{ id, details: JSON.stringify(details), named_ids: [item.id, consignee.id, supplierId] }];
});
