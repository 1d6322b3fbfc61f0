/** order.updated as Square publishes it. */
export const orderUpdated = {
  merchant_id: '5S9MXCS9Y99KK',
  type: 'order.updated',
  event_id: 'bc316346-6691-4243-88ed-6d651a0d0c47',
  created_at: '2020-04-16T23:14:26.359Z',
  data: {
    type: 'order',
    id: 'eA3vssLHKJrv9H0IdJCM3gNqfdcZY',
    object: {
      order_updated: {
        created_at: '2020-04-16T23:14:26.129Z',
        location_id: 'FPYCBCHYMXFK1',
        order_id: 'eA3vssLHKJrv9H0IdJCM3gNqfdcZY',
        state: 'OPEN',
        updated_at: '2020-04-16T23:14:26.129Z',
        version: 2,
      },
    },
  },
};

/** Answer of GET /v2/orders/{order_id}, shortened. */
export const orderAnswer = {
  order: {
    id: 'eA3vssLHKJrv9H0IdJCM3gNqfdcZY',
    location_id: 'FPYCBCHYMXFK1',
    state: 'OPEN',
    version: 3,
    reference_id: 'my-order-001',
    customer_id: 'JDKYHBWT1D4F8MFH63DBMEN8Y4',
    line_items: [
      {
        uid: '8uSwfzvUImn3IRrvciqlXC',
        catalog_object_id: 'W62UWFY35CWMYGVWK6TWJDNI',
        name: 'Coffee',
        quantity: '2',
        base_price_money: { amount: 350, currency: 'JPY' },
        total_money: { amount: 700, currency: 'JPY' },
      },
    ],
    total_money: { amount: 750, currency: 'JPY' },
    total_tax_money: { amount: 50, currency: 'JPY' },
  },
};

export const customerUpdated = {
  merchant_id: '5S9MXCS9Y99KK',
  type: 'customer.updated',
  event_id: 'f1aec3a6-ef45-4d2c-8a2f-0c0d1f1f0a11',
  data: {
    type: 'customer',
    id: 'JDKYHBWT1D4F8MFH63DBMEN8Y4',
    object: {
      customer: {
        id: 'JDKYHBWT1D4F8MFH63DBMEN8Y4',
        given_name: 'Amelia',
        family_name: 'Earhart',
        email_address: 'amelia@example.test',
        phone_number: '+12125550100',
        version: 7,
      },
    },
  },
};
