/** Shapes of seed 001 part A. */
export const order = {
  id: '5f1b0e9c8d3a4b0001c0ffee',
  orderNo: '1001',
  status: 'PENDING',
  consumerId: '5f1b0e9c8d3a4b0001aaaa01',
  memo: 'Please ring twice',
  rewardName: null,
  publicKey: 'b3a1f6f0',
  memberGroup: 'RECREATIONAL',
  trackingStatus: 'DELIVERED',
  cart: {
    subTotal: 30.15,
    discount: 0,
    totalDiscount: 0,
    deliveryFee: 5,
    creditCardFee: 0.35,
    total: 37.515,
    taxTotal: 2.01,
    totalCalcTax: 2.01,
    promoCode: null,
    items: [{ productId: 'p-1', productName: 'Tea', quantity: 3, price: 10.05, totalPrice: 30.15 }],
  },
};

export const member = {
  id: '5f1b0e9c8d3a4b0001aaaa01',
  modified: 1_700_000_000_000,
  email: 'ann@example.test',
  firstName: 'Ann',
  lastName: 'Lee',
  phone: '+15550100',
  status: 'ACTIVE',
  type: 'RECREATIONAL',
};
