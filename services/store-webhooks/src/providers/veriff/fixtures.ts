/** Decision webhook as Veriff publishes it, shortened. */
export const declined = {
  status: 'success',
  verification: {
    id: '12df6045-3846-3e45-946a-14fa6136d78b',
    attemptId: '00bca969-b53a-4fad-b065-874d41a7b2b8',
    status: 'declined',
    code: 9102,
    reason: 'Suspected document tampering',
    vendorData: 'user-2',
    decisionTime: '2024-03-15T18:35:00.000Z',
    person: { firstName: 'Ann', lastName: 'Lee', dateOfBirth: '1970-01-01' },
  },
  technicalData: { ip: '192.0.2.1' },
};

/** Event webhook: the person has handed everything in. */
export const submitted = {
  id: '12df6045-3846-3e45-946a-14fa6136d78b',
  attemptId: '00bca969-b53a-4fad-b065-874d41a7b2b8',
  feature: 'selfid',
  code: 7002,
  action: 'submitted',
  vendorData: 'user-2',
};
