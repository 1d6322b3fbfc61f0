/** inquiry.approved as Persona publishes it, shortened. */
export const approved = {
  data: {
    type: 'event',
    id: 'evt_XGuYWp7WuDzNxie5z16s7sGJ',
    attributes: {
      name: 'inquiry.approved',
      'created-at': '2024-03-15T18:35:01.100Z',
      payload: {
        data: {
          type: 'inquiry',
          id: 'inq_2CVZ4HyVg7qaboXz2PUHknAn',
          attributes: {
            status: 'approved',
            'reference-id': 'user-1',
            'created-at': '2024-03-15T18:30:00.000Z',
            'updated-at': '2024-03-15T18:35:00.000Z',
          },
        },
      },
    },
  },
};

/** Answer of GET /api/v1/inquiries/{id}. */
export const inquiry = approved.data.attributes.payload;
