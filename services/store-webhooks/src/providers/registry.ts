import type { DeliveryAdapter, IdentityAdapter, PosAdapter, ThreeDSAdapter } from './adapter.ts';
import { blaze } from './blaze/adapter.ts';
import { doordash } from './doordash/adapter.ts';
import { generic } from './generic/adapter.ts';
import { netcetera } from './netcetera/adapter.ts';
import { onfleet } from './onfleet/adapter.ts';
import { persona } from './persona/adapter.ts';
import { posDelivery } from './pos-delivery/adapter.ts';
import { square } from './square/adapter.ts';
import { threedsecureio } from './threedsecureio/adapter.ts';
import { veriff } from './veriff/adapter.ts';

const byKind = <A extends { kind: string }>(adapters: readonly A[]): ReadonlyMap<string, A> =>
  new Map(adapters.map((adapter) => [adapter.kind, adapter]));

/** All providers. A new provider needs a folder and a line here. */
export const posAdapters = byKind<PosAdapter>([blaze, square, generic]);
export const deliveryAdapters = byKind<DeliveryAdapter>([posDelivery, onfleet, doordash]);
export const identityAdapters = byKind<IdentityAdapter>([persona, veriff]);
export const threeDSAdapters = byKind<ThreeDSAdapter>([threedsecureio, netcetera]);
