import { COUNTER, type LoadRequest } from '../load.ts';

/** A Blaze order of about 1.2 kB with five items. */
const order = (id: string) => {
  const items = [1, 2, 3, 4, 5].map((at) => ({
    productId: `p-${at}`,
    productName: `Product number ${at} of the shop`,
    quantity: at,
    price: 12.5,
    totalPrice: 12.5 * at,
  }));
  const cart = {
    subTotal: 187.5,
    discount: 0,
    deliveryFee: 5,
    total: 192.5,
    taxTotal: 0,
    promoCode: null,
    items,
  };
  const body = {
    id,
    orderNo: '1001',
    status: 'PENDING',
    consumerId: 'c-1',
    memo: '',
    publicKey: 'pk-1',
    cart,
  };
  return { ...body, memo: 'n'.repeat(Math.max(0, 1200 - JSON.stringify(body).length)) };
};

/** Bodies of different orders. */
export const bodies = (prefix: string, count: number, idOf: (at: number) => string = String): string[] =>
  Array.from({ length: count }, (_, at) => JSON.stringify(order(`${prefix}-${idOf(at)}`)));

/** A request to a webhook's address whose order id is different each time it is sent. */
export const orderRequest = (address: string, prefix: string): LoadRequest => {
  const [body = ''] = bodies(prefix, 1, () => COUNTER);
  return {
    method: 'POST',
    path: new URL(address).pathname,
    headers: { 'Content-Type': 'application/json' },
    body,
  };
};
