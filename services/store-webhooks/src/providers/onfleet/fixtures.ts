/** taskStarted as Onfleet publishes it, shortened. */
export const taskStarted = {
  taskId: '11z1BFspwhBYDvIH~FrJfWMm',
  workerId: '1Ds6ulPYWxNPgaIaoLPqlIQE',
  triggerId: 0,
  triggerName: 'taskStarted',
  time: 1_612_987_200_123,
  data: {
    task: {
      id: '11z1BFspwhBYDvIH~FrJfWMm',
      shortId: '8f983639',
      state: 2,
      worker: '1Ds6ulPYWxNPgaIaoLPqlIQE',
      estimatedCompletionTime: 1_612_990_800_000,
      metadata: [{ name: 'orderId', type: 'string', value: 'order-1', visibility: ['api'] }],
    },
    worker: {
      id: '1Ds6ulPYWxNPgaIaoLPqlIQE',
      name: 'A Swartz',
      phone: '+16173428853',
      location: [-122.41, 37.77],
    },
  },
};
