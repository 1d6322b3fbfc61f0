/** Clients, carriers, suppliers and consignees, in the order of the numbers of `relationship`. */
export const partnerNames: readonly (readonly string[])[] = [
  [
    'Van Dijk Flowers',
    'Nordlys Outdoor',
    'Café Zürich',
    'Atelier Brun',
    'Kestrel Cycles',
    'Olive & Thyme',
    'Łódź Ceramics',
    'Harbour Books',
    'Pico Audio',
    'Straßburger Spielwaren',
    'Mistral Sailing',
    'Tofu Brothers',
  ],
  ['Rapid Road', 'Polar Parcel', 'Blue Barge', 'Continental Rail', 'Swift Couriers', 'Fairway Freight'],
  ['Glasshouse Growers', 'Alpine Textiles', 'Paper Mill Nine', 'Iberian Olive Press'],
  ['Corner Shop Lisbon', 'Department Store Oslo', 'Garden Centre Ghent', 'Online Returns Leipzig'],
];

/** Code, name, city, country. */
export const warehousePlaces: readonly (readonly [string, string, string, string])[] = [
  ['AMS-1', 'Schiphol South', 'Amsterdam', 'NL'],
  ['RTM-1', 'Maasvlakte', 'Rotterdam', 'NL'],
  ['HAM-1', 'Hafen Ost', 'Hamburg', 'DE'],
  ['LEJ-1', 'Leipzig Hub', 'Leipzig', 'DE'],
  ['OSL-1', 'Alnabru', 'Oslo', 'NO'],
  ['LIS-1', 'Tejo', 'Lisbon', 'PT'],
  ['WAW-1', 'Okęcie', 'Warsaw', 'PL'],
  ['ZRH-1', 'Altstetten', 'Zürich', 'CH'],
];

/** Product code, description. */
export const products: readonly (readonly [string, string])[] = [
  ['TUL-R50', 'Red tulips, bunch of fifty'],
  ['TENT-2', 'Tent for two, green'],
  ['BEAN-1K', 'Coffee beans, one kilogram'],
  ['FRAME-A3', 'Picture frame A3, oak'],
  ['TYRE-28', 'Bicycle tyre 28 inch'],
  ['OIL-05', 'Olive oil, half a litre'],
  ['VASE-M', 'Vase, medium, blue glaze'],
  ['ATLAS', 'World atlas, hardback'],
  ['AMP-7', 'Headphone amplifier'],
  ['TRAIN-W', 'Wooden train set'],
  ['ROPE-20', 'Mooring rope, twenty metres'],
  ['TOFU-S', 'Smoked tofu, box of ten'],
];
