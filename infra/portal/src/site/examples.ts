import type { DemoCredentials } from './demo.ts';

/** Values for path parameters that only the demo knows, by the segment before the parameter or by its name. */
export type DemoIds = Readonly<Record<string, string | undefined>>;

export const demoIds = ({ questId, store }: DemoCredentials): DemoIds => ({
  quests: questId,
  stores: store?.id,
  token: store?.webhookToken,
});
