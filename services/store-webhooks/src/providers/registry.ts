import { blaze } from './blaze/adapter.ts';
import { posDelivery } from './pos-delivery/adapter.ts';
import { threedsecureio } from './threedsecureio/adapter.ts';
import type { DeliveryAdapter, IdentityAdapter, PosAdapter, ThreeDSAdapter } from './adapter.ts';

const byKind = <A extends { kind: string }>(adapters: readonly A[]): ReadonlyMap<string, A> =>
  new Map(adapters.map((adapter) => [adapter.kind, adapter]));

/** Every provider we speak with. Adding one adds its folder and a line here. */
export const posAdapters = byKind<PosAdapter>([blaze]);
export const deliveryAdapters = byKind<DeliveryAdapter>([posDelivery]);
export const identityAdapters = byKind<IdentityAdapter>([]);
export const threeDSAdapters = byKind<ThreeDSAdapter>([threedsecureio]);
