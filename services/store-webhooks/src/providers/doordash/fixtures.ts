/** A DoorDash Drive delivery webhook, shortened. */
export const pickedUp = {
  event_name: 'DASHER_PICKED_UP',
  external_delivery_id: 'D-1763',
  delivery_status: 'picked_up',
  currency: 'USD',
  dasher_id: 1232142,
  dasher_name: 'Jane D.',
  dasher_location: { lat: 37.77, lng: -122.42 },
  pickup_time_actual: '2021-10-28T22:05:00Z',
  dropoff_time_estimated: '2021-10-28T22:30:00Z',
  updated_at: '2021-10-28T22:05:01Z',
};
