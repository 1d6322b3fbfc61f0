/** Shape of seed 001 part A. */
export const job = {
  id: 'job-1',
  orderId: 'order-1',
  driverId: 'driver-1',
  status: 'ASSIGNED',
  estimatedArrival: 1_700_000_600_000,
  driverLocation: { lat: 37.7749, lng: -122.4194 },
};
